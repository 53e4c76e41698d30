// A program linked to libtorch, whose operators are known by arithmetic. Each KIND of work prints
// one line that depends on what was computed. Usage: libtorch_program KIND COUNT
//
//   loop      COUNT times add_, every tenth one inside a user scope
//   threads   four threads that each do what loop does
//   backward  COUNT times forward and backward through mul and sum
//   raise     COUNT times an operator that throws, caught, and one that does not after it
//   uncaught  as raise, then an exception that nobody catches
//   exit      COUNT times add_, then std::exit inside an operator inside a user scope
// and what many_threads.cpp, children.cpp and ways_to_end.cpp have: the life cycles of threads and
// processes.

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <torch/library.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "work.h"

namespace torchtrace::test {

namespace {
constexpr int kScopeEvery = 10;
}

double loop(int count) {
  const at::Tensor one = at::ones({1});
  at::Tensor total = at::zeros({1});
  for (int turn = 0; turn < count; ++turn) {
    if (turn % kScopeEvery == 0) {
      RECORD_USER_SCOPE("tenth");
      total.add_(one);
    } else {
      total.add_(one);
    }
  }
  return total.item<double>();
}

double warm_up() { return at::zeros({1}).add_(at::ones({1})).item<double>(); }

void loop_and_hold_open(int count, std::atomic<int>& holding) {
  loop(count);
  RECORD_USER_SCOPE("held open");
  holding.fetch_add(1);
  for (;;) pause();
}

void add_and_remove_callback() {
  at::removeCallback(at::addThreadLocalCallback(at::RecordFunctionCallback(nullptr)));
}

}  // namespace torchtrace::test

namespace {

using torchtrace::test::loop;

constexpr int kThreads = 4;
constexpr int kExitCode = 5;

at::Tensor leave(const at::Tensor& /*unused*/) { std::exit(kExitCode); }

double threads(int count) {
  std::vector<double> totals(kThreads);
  std::vector<std::thread> running;
  running.reserve(kThreads);
  for (double& total : totals) {
    running.emplace_back([&total, count] { total = loop(count); });
  }
  for (std::thread& thread : running) {
    thread.join();
  }
  double sum = 0;
  for (const double total : totals) {
    sum += total;
  }
  return sum;
}

double backward(int count) {
  at::Tensor weight = at::ones({3});
  weight.set_requires_grad(true);
  for (int turn = 0; turn < count; ++turn) {
    weight.mul(weight).sum().backward();
  }
  return weight.grad().sum().item<double>();
}

int raise_and_catch(int count) {
  const at::Tensor wide = at::ones({2, 3});
  int caught = 0;
  for (int turn = 0; turn < count; ++turn) {
    try {
      RECORD_USER_SCOPE("doomed");
      wide.mm(wide);
    } catch (const c10::Error&) {
      ++caught;
    }
    wide.abs();
  }
  return caught;
}

[[noreturn]] void exit_inside_operator(int count) {
  std::printf("loop %g\n", loop(count));
  RECORD_USER_SCOPE("never left");
  static const auto kLeave =
      c10::Dispatcher::singleton().findSchemaOrThrow("torchtrace_test::leave", "");
  kLeave.typed<at::Tensor(const at::Tensor&)>().call(at::ones({1}));
  std::abort();
}

int work(const std::string& kind, int count) {
  if (kind == "loop") {
    std::printf("loop %g\n", loop(count));
  } else if (kind == "threads") {
    std::printf("threads %g\n", threads(count));
  } else if (kind == "backward") {
    std::printf("backward %g\n", backward(count));
  } else if (kind == "raise" || kind == "uncaught") {
    std::printf("caught %d\n", raise_and_catch(count));
    std::fflush(stdout);
    if (kind == "uncaught") {
      at::ones({2, 3}).mm(at::ones({2, 3}));
    }
  } else if (kind == "exit") {
    exit_inside_operator(count);
  } else {
    return -1;
  }
  return 0;
}

int work_of_any_kind(const std::string& kind, int count, char* program) {
  namespace test = torchtrace::test;
  int code = work(kind, count);
  if (code == -1) code = test::many_threads(kind, count);
  if (code == -1) code = test::children(kind, count, program);
  if (code == -1) code = test::ways_to_end(kind, count);
  if (code != -1) return code;
  std::fprintf(stderr, "unknown kind of work: %s\n", kind.c_str());
  return 2;
}

}  // namespace

TORCH_LIBRARY(torchtrace_test, library) {
  library.def("leave(Tensor self) -> Tensor");
  library.impl("leave", c10::DispatchKey::CompositeExplicitAutograd, TORCH_FN(leave));
}

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: libtorch_program KIND COUNT\n");
    return 2;
  }
  return work_of_any_kind(argv[1], static_cast<int>(std::strtol(argv[2], nullptr, 10)), argv[0]);
}
