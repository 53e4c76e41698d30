#include "switch/switch.h"

#include <dlfcn.h>

#include <exception>
#include <map>
#include <stdexcept>
#include <string>

#include "observer/observer.h"
#include "switch/recording_process.h"
#include "switch/variants.h"

#define TORCHTRACE_BENCH_EXPORT extern "C" __attribute__((visibility("default")))

namespace torchtrace::bench {

namespace {

using observer::RecordFunctionCallback;
using HandleCallback = void (*)(std::uint64_t);

struct Switch {
  observer::TorchLibrary torch{};
  RecordFunctionCallback torchtrace{};
  observer::AddGlobalCallback add = nullptr;
  HandleCallback remove = nullptr;
  HandleCallback disable = nullptr;
  std::uint64_t registered = 0;
  bool is_registered = false;
  std::map<std::string, RecordFunctionCallback> made;
  RecordingProcess recording;
};

Switch& the_switch() {
  static auto* const made = new Switch;
  return *made;
}

/// Stands in for at::addGlobalCallback in `observer::start`, which registers for good.
std::uint64_t keep_for_later(RecordFunctionCallback callback) {
  the_switch().torchtrace = callback;
  return 0;
}

core::Process* find_process() noexcept { return core::g_process.load(std::memory_order_acquire); }

void find_torch(Switch& self) {
  const char* why = nullptr;
  if (!observer::find_torch_library(dlopen, self.torch, &why)) throw std::runtime_error(why);
  void* library = dlopen(self.torch.path, RTLD_NOLOAD | RTLD_LAZY);
  self.remove = reinterpret_cast<HandleCallback>(dlsym(library, "_ZN2at14removeCallbackEm"));
  self.disable = reinterpret_cast<HandleCallback>(dlsym(library, "_ZN2at15disableCallbackEm"));
  if (self.remove == nullptr || self.disable == nullptr) {
    throw std::runtime_error("this libtorch exports no at::removeCallback, at::disableCallback");
  }
}

void take_callback(Switch& self, const config::Config& config) {
  self.add = self.torch.add_global_callback;
  self.torch.add_global_callback = keep_for_later;
  core::g_activate = find_process;
  static auto* const names =
      new filters::NameFilter(config.filters.include, config.filters.exclude);
  observer::start(self.torch, config.filters.scopes, *names);
}

const RecordFunctionCallback& callback_of(Switch& self, const Variant& variant) {
  const auto found = self.made.find(variant.name);
  if (found != self.made.end()) return found->second;
  return self.made[variant.name] = variant.make(self.torch, self.torchtrace);
}

void set(Switch& self, const Variant& variant) {
  if (self.is_registered) self.remove(self.registered);
  self.is_registered = variant.make != nullptr;
  if (!self.is_registered) return;
  self.registered = self.add(callback_of(self, variant));
  if (variant.is_paused) self.disable(self.registered);
}

/// Runs what may throw; returns nullptr or the sentence, which lives until the next call.
template <class Call>
const char* text_of_error(Call&& call) {
  static std::string error;
  try {
    call();
    return nullptr;
  } catch (const std::exception& exception) {
    error = exception.what();
    return error.c_str();
  }
}

}  // namespace

TORCHTRACE_BENCH_EXPORT const char* torchtrace_switch_open() {
  return text_of_error([] {
    find_torch(the_switch());
    const config::Config config = load_configuration();
    take_callback(the_switch(), config);
    the_switch().recording = RecordingProcess::start(config);
  });
}

TORCHTRACE_BENCH_EXPORT const char* torchtrace_switch_set(const char* variant) {
  return text_of_error([variant] { set(the_switch(), find_variant(variant)); });
}

TORCHTRACE_BENCH_EXPORT void torchtrace_switch_drain() {
  the_switch().recording.wait_until_drained();
}

TORCHTRACE_BENCH_EXPORT void torchtrace_switch_counts(std::uint64_t* started,
                                                      std::uint64_t* dropped) {
  const RecordingProcess::Counts counts = the_switch().recording.counts();
  *started = counts.started;
  *dropped = counts.dropped;
}

TORCHTRACE_BENCH_EXPORT void torchtrace_switch_close() {
  set(the_switch(), find_variant("none"));
  the_switch().recording.finish();
}

}  // namespace torchtrace::bench
