#include "hot_path/workloads.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/record_function.h>
#include <c10/core/GradMode.h>
#include <torch/version.h>

namespace torchtrace::bench {

namespace {

/// Two operands of 48 KiB each: more than the first-level caches of present CPUs (32 to 48 KiB).
constexpr int kThrashingElements = 12288;

template <class Call>
std::function<void(int)> repeat(Call call) {
  return [call](int calls) {
    for (int i = 0; i < calls; ++i) call();
  };
}

}  // namespace

std::vector<Workload> make_workloads() {
  at::set_num_threads(1);
  at::globalContext();
  // For good, on this thread: without autograd the operators are as short as they get.
  static const auto* const no_grad = new c10::NoGradGuard;
  static_cast<void>(no_grad);
  const at::Tensor x = at::zeros({1});
  const at::Tensor y = at::ones({1});
  const at::Tensor big = at::zeros({kThrashingElements});
  const at::Tensor step = at::ones({kThrashingElements});
  return {
      {"x.add_(y)", 1, 2000, repeat([x, y] { x.add_(y); })},
      {"x.detach()", 2, 4000, repeat([x] { static_cast<void>(x.detach()); })},
      {"x.add_(1)", 6, 500, repeat([x] { x.add_(1); })},
      {"RECORD_USER_SCOPE", 1, 4000, repeat([] { RECORD_USER_SCOPE("tiny"); })},
      {"x.add_(y), 48 KiB each", 1, 300, repeat([big, step] { big.add_(step); })},
  };
}

std::string torch_version() { return TORCH_VERSION; }

}  // namespace torchtrace::bench
