#include "switch/recording_process.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "config/load.h"
#include "core/clock.h"
#include "core/process_stat.h"
#include "observer/layout_check.h"

namespace torchtrace::bench {

namespace {

flush::FlushThread::Options flush_options(const config::Config& config) {
  flush::FlushThread::Options options;
  options.period_ns = config.output.period_ns;
  options.hold_ns = config.output.hold_ns;
  options.info.pid = static_cast<std::uint32_t>(getpid());
  options.info.start_time = core::process_start_time(getpid());
  options.info.host = flush::host_name();
  options.info.command = flush::command_line();
  options.info.torch_version = "unknown";
  options.info.torch_path = "unknown";
  options.info.agent_version = "bench";
  options.info.config_digest = config.digest;
  options.info.describe_layout = observer::describe_layout;
  options.sink.kind = config.output.sink;
  options.sink.provider_path = TORCHTRACE_BENCH_PROVIDER;
  options.sink.directory = config.output.directory;
  options.sink.trace_name = options.info.trace_name();
  options.sink.max_bytes = config.output.max_bytes;
  options.sink.when_full = config.output.when_full;
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

core::Process* make_process(const config::Config& config) {
  auto* process = new core::Process;
  core::Mapping::Options options;
  options.ring_bytes = config.buffer.size_bytes;
  options.max_buffers =
      static_cast<std::uint32_t>(config.buffer.total_bytes / config.buffer.size_bytes);
  if (!process->mapping.create(options) || !process->names.create(process->mapping) ||
      !process->threads.create(process->mapping, ring_policy(config.buffer.policy))) {
    throw std::runtime_error("no memory for the rings");
  }
  return process;
}

template <class Visit>
void for_each_thread(const core::Process& process, Visit&& visit) {
  for (std::uint32_t index = 0; index < process.threads.count(); ++index) {
    const core::ThreadBuffer* buffer = process.threads.buffer(index);
    if (buffer != nullptr) visit(buffer->header);
  }
}

}  // namespace

config::Config load_configuration() {
  config::LoadResult loaded =
      config::load([](const char* name) { return std::getenv(name); }, environ);
  if (!loaded.config.has_value()) throw std::runtime_error(loaded.problems.front().text);
  return std::move(*loaded.config);
}

RecordingProcess RecordingProcess::start(const config::Config& config) {
  core::use_counter(core::counter_is_trusted() &&
                    config.clock.source != config::ClockSource::kMonotonic);
  RecordingProcess made;
  made.process = make_process(config);
  made.flush_thread = new flush::FlushThread(*made.process, flush_options(config));
  if (!made.flush_thread->start()) throw std::runtime_error("no flush thread can be started");
  core::g_process.store(made.process, std::memory_order_release);
  return made;
}

void RecordingProcess::wait_until_drained() const {
  for (bool is_drained = false; !is_drained;) {
    is_drained = true;
    for_each_thread(*process, [&](const core::ThreadHeader& header) {
      is_drained = is_drained && header.ring.tail.load() == header.head.load();
    });
    if (!is_drained) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

RecordingProcess::Counts RecordingProcess::counts() const noexcept {
  Counts sum;
  for_each_thread(*process, [&](const core::ThreadHeader& header) {
    sum.started += header.started();
    sum.dropped += header.dropped_ring_full.load(std::memory_order_relaxed);
  });
  return sum;
}

void RecordingProcess::finish() {
  constexpr std::uint64_t kDeadline_ns = 10'000'000'000;
  if (!flush_thread->finish(kDeadline_ns)) throw std::runtime_error("the flush thread hangs");
  process->mapping.remove();
}

}  // namespace torchtrace::bench
