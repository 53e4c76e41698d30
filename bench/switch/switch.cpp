#include "switch/switch.h"

#include <dlfcn.h>

#include <array>
#include <exception>
#include <string>

#include "observer/observer.h"
#include "switch/recording_process.h"

#define TORCHTRACE_BENCH_EXPORT extern "C" __attribute__((visibility("default")))

namespace torchtrace::bench {

namespace {

using observer::RecordFunctionCallback;
using RemoveCallback = void (*)(std::uint64_t);

struct Switch {
  observer::TorchLibrary torch{};
  RecordFunctionCallback torchtrace{};
  RecordFunctionCallback floor{};
  observer::AddGlobalCallback add = nullptr;
  RemoveCallback remove = nullptr;
  std::uint64_t registered = 0;
  bool is_registered = false;
  RecordingProcess recording;
};
Switch g_switch;

std::unique_ptr<observer::ObserverContext> start_nothing(
    const observer::RecordFunction& /*event*/) {
  return nullptr;
}
void end_nothing(const observer::RecordFunction& /*event*/, observer::ObserverContext* /*unused*/) {
}

/// Stands in for at::addGlobalCallback in `observer::start`, which registers for good.
std::uint64_t keep_for_later(RecordFunctionCallback callback) {
  g_switch.torchtrace = callback;
  return 0;
}

core::Process* find_process() noexcept { return core::g_process.load(std::memory_order_acquire); }

std::array<bool, core::kScopeCount> default_scopes() {
  std::array<bool, core::kScopeCount> scopes{};
  for (const core::Scope scope :
       {core::Scope::kFunction, core::Scope::kBackwardFunction, core::Scope::kUserScope}) {
    scopes[static_cast<std::size_t>(scope)] = true;
  }
  return scopes;
}

/// nullptr, or why the process's PyTorch cannot be used.
const char* find_torch() {
  const char* why = nullptr;
  if (!observer::find_torch_library(dlopen, g_switch.torch, &why)) return why;
  void* library = dlopen(g_switch.torch.path, RTLD_NOLOAD | RTLD_LAZY);
  g_switch.remove = reinterpret_cast<RemoveCallback>(dlsym(library, "_ZN2at14removeCallbackEm"));
  return g_switch.remove == nullptr ? "this libtorch does not export at::removeCallback" : nullptr;
}

void prepare_callbacks() {
  g_switch.add = g_switch.torch.add_global_callback;
  g_switch.torch.add_global_callback = keep_for_later;
  core::g_activate = find_process;
  observer::start(g_switch.torch, default_scopes());
  g_switch.floor = g_switch.torchtrace;
  g_switch.floor.start = start_nothing;
  g_switch.floor.end = end_nothing;
}

}  // namespace

TORCHTRACE_BENCH_EXPORT const char* torchtrace_switch_open() {
  static std::string error;
  try {
    const char* why = find_torch();
    if (why != nullptr) return why;
    prepare_callbacks();
    g_switch.recording = RecordingProcess::start();
    return nullptr;
  } catch (const std::exception& exception) {
    error = exception.what();
    return error.c_str();
  }
}

TORCHTRACE_BENCH_EXPORT void torchtrace_switch_set(int variant) {
  if (g_switch.is_registered) g_switch.remove(g_switch.registered);
  g_switch.is_registered = variant != kSwitchNone;
  if (!g_switch.is_registered) return;
  g_switch.registered =
      g_switch.add(variant == kSwitchFloor ? g_switch.floor : g_switch.torchtrace);
}

TORCHTRACE_BENCH_EXPORT void torchtrace_switch_drain() { g_switch.recording.wait_until_drained(); }

TORCHTRACE_BENCH_EXPORT void torchtrace_switch_counts(std::uint64_t* started,
                                                      std::uint64_t* dropped) {
  const RecordingProcess::Counts counts = g_switch.recording.counts();
  *started = counts.started;
  *dropped = counts.dropped;
}

TORCHTRACE_BENCH_EXPORT void torchtrace_switch_close() {
  torchtrace_switch_set(kSwitchNone);
  g_switch.recording.finish();
}

}  // namespace torchtrace::bench
