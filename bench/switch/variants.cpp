#include "switch/variants.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <string>
#include <thread>

#include "core/clock.h"

namespace torchtrace::bench {

namespace {

using observer::RecordFunctionCallback;
using observer::TorchLibrary;

std::unique_ptr<observer::ObserverContext> start_nothing(
    const observer::RecordFunction& /*event*/) {
  return nullptr;
}
void end_nothing(const observer::RecordFunction& /*event*/, observer::ObserverContext* /*unused*/) {
}

/// The time stamps of the two callbacks below go somewhere, or the compiler would leave them out.
thread_local std::uint64_t t_stamps;

std::unique_ptr<observer::ObserverContext> read_clock_at_start(
    const observer::RecordFunction& /*event*/) {
  t_stamps = core::read_counter();
  return nullptr;
}
void read_clock_at_end(const observer::RecordFunction& /*event*/,
                       observer::ObserverContext* /*unused*/) {
  t_stamps = core::read_counter() - t_stamps;
}

RecordFunctionCallback make_floor(const TorchLibrary& /*torch*/,
                                  const RecordFunctionCallback& torchtrace) {
  RecordFunctionCallback callback = torchtrace;
  callback.start = start_nothing;
  callback.end = end_nothing;
  return callback;
}

/// What no record with a start and an end can do without, on the machine that measures.
RecordFunctionCallback make_stamps(const TorchLibrary& /*torch*/,
                                   const RecordFunctionCallback& torchtrace) {
  RecordFunctionCallback callback = torchtrace;
  callback.start = read_clock_at_start;
  callback.end = read_clock_at_end;
  return callback;
}

RecordFunctionCallback make_torchtrace(const TorchLibrary& /*torch*/,
                                       const RecordFunctionCallback& torchtrace) {
  return torchtrace;
}

/// Registered for nothing that the benches run.
RecordFunctionCallback make_other_scope(const TorchLibrary& /*torch*/,
                                        const RecordFunctionCallback& torchtrace) {
  RecordFunctionCallback callback = torchtrace;
  std::fill(std::begin(callback.scopes), std::end(callback.scopes), false);
  callback.scopes[static_cast<std::size_t>(core::Scope::kLiteInterpreter)] = true;
  return callback;
}

/// One operator in a hundred, chosen by PyTorch.
RecordFunctionCallback make_sampled(const TorchLibrary& /*torch*/,
                                    const RecordFunctionCallback& torchtrace) {
  RecordFunctionCallback callback = torchtrace;
  callback.sampling_probability = 0.01;
  return callback;
}

/// What PyTorch itself takes for choosing.
RecordFunctionCallback make_sampled_floor(const TorchLibrary& torch,
                                          const RecordFunctionCallback& torchtrace) {
  return make_floor(torch, make_sampled(torch, torchtrace));
}

RecordFunctionCallback make_thapi_style(const TorchLibrary& torch,
                                        const RecordFunctionCallback& /*torchtrace*/) {
  using MakeCallback = int (*)(observer::GetName, RecordFunctionCallback*);
  void* library = dlopen(TORCHTRACE_BENCH_THAPI_STYLE, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  const auto make_callback =
      reinterpret_cast<MakeCallback>(dlsym(library, "torchtrace_bench_thapi_callback"));
  RecordFunctionCallback callback{};
  for (int attempt = 0; attempt < 300; ++attempt) {
    if (make_callback(torch.name, &callback) != 0) return callback;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  throw std::runtime_error("no LTTng session has enabled torchtrace_bench_thapi:*");
}

constexpr Variant kVariants[] = {
    {"none", nullptr, false},
    {"floor", make_floor, false},
    {"stamps", make_stamps, false},
    {"torchtrace", make_torchtrace, false},
    {"other_scope", make_other_scope, false},
    {"sampled", make_sampled, false},
    {"sampled_floor", make_sampled_floor, false},
    {"paused", make_torchtrace, true},
    {"thapi_style", make_thapi_style, false},
};

}  // namespace

const Variant& find_variant(const char* name) {
  const auto* const found =
      std::find_if(std::begin(kVariants), std::end(kVariants),
                   [name](const Variant& variant) { return std::strcmp(variant.name, name) == 0; });
  if (found == std::end(kVariants)) throw std::runtime_error(std::string("no variant ") + name);
  return *found;
}

}  // namespace torchtrace::bench
