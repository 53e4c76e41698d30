#include "agent/agent.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <string>

#include "agent/dump_signal.h"
#include "agent/fork_handlers.h"
#include "agent/process_facts.h"
#include "config/load.h"
#include "core/clock.h"
#include "core/log.h"
#include "flush/flush_thread.h"
#include "observer/observer.h"
#include "observer/registration.h"

namespace torchtrace::agent {

namespace {

constexpr std::uint64_t kExitDeadline_ns = 2'000'000'000;
/// How long a thread's first operator waits for another one's to make the process's state.
constexpr std::uint64_t kActivationPatience_ns = 1'000'000'000;

enum Phase : std::uint32_t { kLooking, kRegistering, kSettled };
enum Activation : std::uint32_t { kInactive, kActivating, kActive, kFailed };

void* (*g_real_dlopen)(const char*, int) = nullptr;
std::atomic<std::uint32_t> g_phase{kLooking};
std::atomic<std::uint32_t> g_activation{kInactive};
std::atomic<flush::FlushThread*> g_flush_thread{nullptr};
std::atomic<pid_t> g_active_pid{0};
config::Config* g_config = nullptr;

void say_problems(const std::vector<config::Problem>& problems) {
  for (const config::Problem& problem : problems) {
    const bool is_last = &problem == &problems.back();
    core::say((problem.text + (is_last ? "; tracing is off" : "")).c_str());
  }
}

/// Reads the configuration; nullptr if it is broken or wants nothing.
config::Config* load_configuration() {
  config::LoadResult loaded =
      config::load([](const char* name) { return std::getenv(name); }, environ);
  if (!loaded.config.has_value()) {
    say_problems(loaded.problems);
    return nullptr;
  }
  if (loaded.config->output.sink == config::SinkKind::kOff) return nullptr;
  return new config::Config(std::move(*loaded.config));
}

void choose_clock(config::ClockSource source) {
  const bool trusted = core::counter_is_trusted();
  if (source == config::ClockSource::kTsc && !trusted) {
    core::say(
        "clock.source = \"tsc\": the kernel does not use this machine's counter as its clock; "
        "using CLOCK_MONOTONIC");
  }
  core::use_counter(trusted && source != config::ClockSource::kMonotonic);
}

void keep_reporting() noexcept {
  observer::resume();
  observer::look_after_registration(g_config->observer.reregister);
}

/// The flush thread's word on whether operators are wanted, for the observer.
flush::OperatorSource operator_source() {
  flush::OperatorSource source;
  source.pause = observer::pause;
  source.keep_reporting = keep_reporting;
  return source;
}

flush::FlushThread::Options flush_options() {
  flush::FlushThread::Options options;
  const config::Config::Output& output = g_config->output;
  options.period_ns = output.period_ns;
  options.hold_ns = output.hold_ns;
  options.info = gather_process_info(observer::torch().path, g_config->digest);
  options.source = operator_source();
  options.spare_buffers = static_cast<std::uint32_t>(g_config->buffer.spare);
  options.snapshot_ns = g_config->snapshot.seconds_ns;
  options.slow_step_ns = g_config->snapshot.slow_step_ns;
  options.sink.kind = output.sink;
  options.sink.provider_path = provider_path();
  options.sink.lttng_home = lttng_home();
  options.sink.run_socket = run_socket();
  options.sink.directory = output.directory;
  options.sink.trace_name = options.info.trace_name();
  options.sink.max_bytes = output.max_bytes;
  options.sink.when_full = output.when_full;
  return options;
}

core::RingPolicy ring_policy(config::OverflowPolicy policy) noexcept {
  switch (policy) {
    case config::OverflowPolicy::kOverwriteOldest:
      return core::kRingOverwriteOldest;
    case config::OverflowPolicy::kBlock:
      return core::kRingBlock;
    default:
      return core::kRingDropNewest;
  }
}

core::Process* make_process() {
  auto* process = new core::Process;
  core::Mapping::Options options;
  options.ring_bytes = g_config->buffer.size_bytes;
  options.max_buffers =
      static_cast<std::uint32_t>(g_config->buffer.total_bytes / g_config->buffer.size_bytes);
  if (!process->mapping.create(options) || !process->names.create(process->mapping) ||
      !process->threads.create(process->mapping, ring_policy(g_config->buffer.policy))) {
    core::say("tracing is off: no memory for its buffers");
    return nullptr;
  }
  process->mapping.header().clock_is_tsc = core::g_ticks_are_counter.load() ? 1 : 0;
  if (!process->mapping.is_recoverable()) {
    core::say((std::string("a killed program's last operators cannot be recovered: ") +
               process->mapping.why_not())
                  .c_str());
  }
  return process;
}

core::Process* start_process() {
  core::Process* process = make_process();
  if (process == nullptr) return nullptr;
  auto* thread = new flush::FlushThread(*process, flush_options());
  if (!thread->start()) {
    core::say("tracing is off: no thread can be started");
    process->mapping.remove();
    return nullptr;
  }
  g_active_pid.store(getpid());
  core::g_process.store(process, std::memory_order_release);
  g_flush_thread.store(thread, std::memory_order_release);
  return process;
}

core::Process* wait_for_activation() noexcept {
  const std::uint64_t end_ns = core::clock_ns(CLOCK_MONOTONIC) + kActivationPatience_ns;
  while (g_activation.load(std::memory_order_acquire) == kActivating &&
         core::clock_ns(CLOCK_MONOTONIC) < end_ns) {
    const timespec patience{0, 10'000'000};
    syscall(SYS_futex, &g_activation, FUTEX_WAIT_PRIVATE, kActivating, &patience, nullptr, 0);
  }
  return core::g_process.load(std::memory_order_acquire);
}

/// The process's first operator. Others that come at the same time wait for it.
core::Process* activate() noexcept {
  std::uint32_t expected = kInactive;
  if (!g_activation.compare_exchange_strong(expected, kActivating)) {
    return expected == kActivating ? wait_for_activation() : core::g_process.load();
  }
  core::Process* process = nullptr;
  try {
    process = start_process();
  } catch (const std::exception& error) {
    core::say("tracing is off: it could not be started");
    core::say(error.what());
  }
  g_activation.store(process == nullptr ? kFailed : kActive, std::memory_order_release);
  syscall(SYS_futex, &g_activation, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
  return process;
}

void register_with_torch() {
  g_config = load_configuration();
  if (g_config == nullptr) return;
  if (g_config->output.directory.empty()) {
    g_config->output.directory = "torchtrace-" + std::to_string(getpid());
  }
  g_config->output.directory = absolute_path(g_config->output.directory);
  const char* why = "";
  static auto* const torch = new observer::TorchLibrary{};
  if (!observer::find_torch_library(g_real_dlopen, *torch, &why)) {
    core::say((std::string("tracing is off: ") + why).c_str());
    return;
  }
  choose_clock(g_config->clock.source);
  install_fork_handlers();
  at_quick_exit(finish);  // early, so that it runs after what the program registers
  if (g_config->output.sink == config::SinkKind::kSnapshot) {
    handle_dump_signal(g_config->snapshot.signal);
  }
  core::g_activate = activate;
  const config::Config::Filters& filters = g_config->filters;
  static auto* const names = new filters::NameFilter(filters.include, filters.exclude);
  observer::start(*torch, filters.scopes, *names);
}

void* look_on_own_thread(void* /*unused*/) noexcept {
  // Waits for the loader's lock, hence for the dlopen that may be under way.
  g_real_dlopen(nullptr, RTLD_LAZY | RTLD_NOLOAD);
  look_for_torch();
  return nullptr;
}

}  // namespace

void set_real_dlopen(void* (*real_dlopen)(const char*, int)) noexcept {
  g_real_dlopen = real_dlopen;
}

bool has_settled() noexcept { return g_phase.load(std::memory_order_acquire) != kLooking; }

void stay_off() noexcept { g_phase.store(kSettled, std::memory_order_release); }

void look_for_torch() noexcept {
  if (has_settled() || !observer::torch_is_loaded()) return;
  std::uint32_t expected = kLooking;
  if (!g_phase.compare_exchange_strong(expected, kRegistering)) return;
  try {
    register_with_torch();
  } catch (const std::exception& error) {
    core::say("tracing is off: it could not be set up");
    core::say(error.what());
  }
  g_phase.store(kSettled, std::memory_order_release);
}

void look_for_torch_later() noexcept {
  static std::atomic<bool> is_under_way{false};
  if (is_under_way.exchange(true)) return;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  if (pthread_create(&thread, nullptr, look_on_own_thread, nullptr) == 0) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void finish() noexcept {
  flush::FlushThread* thread = g_flush_thread.load(std::memory_order_acquire);
  // In a vfork child the memory is the parent's, and so is the trace.
  if (thread == nullptr || g_active_pid.load() != getpid()) return;
  if (!g_flush_thread.compare_exchange_strong(thread, nullptr)) return;
  observer::quiesce();
  core::g_stopped.store(true, std::memory_order_release);
  if (!thread->finish(kExitDeadline_ns)) {
    core::say("the last operators could not be written within 2 s");
  }
  core::g_process.load()->mapping.remove();
}

bool request_dump() noexcept {
  core::Process* process = core::g_process.load(std::memory_order_acquire);
  if (process == nullptr || g_config->output.sink != config::SinkKind::kSnapshot) return false;
  process->consumer.wake(core::kWakeToDump);
  return true;
}

void forget_parent() noexcept {
  core::Process* process = core::g_process.exchange(nullptr);
  if (process != nullptr) process->mapping.release_lock();
  core::ThreadRegistry::forget_this_thread();
  core::g_stopped.store(false);
  core::g_inherited_ends.store(0);
  core::g_tick_mark.store(
      0);  // the child begins with CLOCK_MONOTONIC where its parent has gone over
  g_flush_thread.store(nullptr);
  g_activation.store(kInactive);
}

flush::FlushThread* flush_thread() noexcept {
  return g_flush_thread.load(std::memory_order_acquire);
}

}  // namespace torchtrace::agent
