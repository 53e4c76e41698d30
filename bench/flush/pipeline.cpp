// Google Benchmark: what the flush thread does with a record, from the ring to the sink, on one
// thread. The bare tracepoint, called in a loop with the same event, is the yardstick.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "core/clock.h"
#include "flush/collector.h"
#include "flush/ctf_sink.h"
#include "flush/lttng_sink.h"
#include "flush/null_sink.h"
#include "flush/sequencer.h"
#include "flush/synthetic_producer.h"
#include "flush/trace_writer.h"

namespace torchtrace::bench {

namespace {

/// Records per flush period: 0.8 M operators/s at the default period of 10 ms.
constexpr std::uint64_t kBatch = 8192;
/// Batches per repetition.
constexpr benchmark::IterationCount kBatches = 12;
/// Between two batches for LTTng, so that its consumer keeps up and nothing is discarded, on a busy
/// machine too: an event that is discarded costs less than one that is recorded.
constexpr std::chrono::milliseconds kPause{40};

/// Made once: a process has one set of rings.
core::Process& process() {
  static core::Process* const made = [] {
    auto* process = new core::Process;
    core::Mapping::Options options;
    options.ring_bytes = std::uint64_t{1} << 20U;
    options.max_buffers = 4;
    if (!process->mapping.create(options) || !process->names.create(process->mapping) ||
        !process->threads.create(process->mapping)) {
      throw std::runtime_error("no memory for the rings");
    }
    core::use_counter(core::counter_is_trusted());
    core::g_process.store(process);
    return process;
  }();
  return *made;
}

SyntheticProducer& producer() {
  static auto* const made = new SyntheticProducer(process());
  return *made;
}

core::TickConverter calibrated_clock() {
  core::TickConverter clock;
  const core::ClockAnchor first = core::take_anchor();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  clock.start(first, core::take_anchor());
  return clock;
}

/// The flush thread's parts without its thread, so that each batch can be timed alone.
class Pipeline {
 public:
  explicit Pipeline(flush::Sink& sink)
      : sink_(sink),
        collector_(process()),
        writer_(info_, process().names.arena(), collector_.threads(), {50'000'000, 10'000'000}),
        clock_(calibrated_clock()) {}

  void period() {
    collector_.collect(sequencer_);
    const std::uint64_t now_ticks = core::read_ticks();
    sequencer_.advance(now_ticks, now_ticks, clock_,
                       [&](const flush::SequencedOp& op) { writer_.op(sink_, op); });
    sink_.end_of_period(core::clock_ns(CLOCK_MONOTONIC));
    static_cast<void>(sink_.wants_state());
  }

 private:
  flush::Sink& sink_;
  flush::ProcessInfo info_;
  flush::Collector collector_;
  flush::Sequencer sequencer_;
  flush::TraceWriter writer_;
  core::TickConverter clock_;
};

/// CPU time of this thread: how long it waits for a CPU says nothing about the flush thread.
template <class Call>
void time_batch(benchmark::State& state, Call&& call) {
  const std::uint64_t start_ns = core::clock_ns(CLOCK_THREAD_CPUTIME_ID);
  call();
  const std::uint64_t elapsed_ns = core::clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
  state.SetIterationTime(static_cast<double>(elapsed_ns) * 1e-9);
}

void run_pipeline(benchmark::State& state, flush::Sink& sink,
                  std::chrono::milliseconds pause = std::chrono::milliseconds(0)) {
  Pipeline pipeline(sink);
  pipeline.period();
  while (state.KeepRunning()) {
    producer().push(kBatch);
    time_batch(state, [&] { pipeline.period(); });
    std::this_thread::sleep_for(pause);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}

void none(benchmark::State& state) {
  flush::NullSink sink;
  run_pipeline(state, sink);
}

void ctf(benchmark::State& state) {
  static int run = 0;
  const char* directory = std::getenv("TORCHTRACE_BENCH_DIRECTORY");
  if (directory == nullptr) return state.SkipWithError("TORCHTRACE_BENCH_DIRECTORY is not set");
  flush::CtfSinkOptions options;
  // Each in a folder of its own: the sink looks at all traces beside its own before it begins.
  options.output_directory = directory + ("/" + std::to_string(++run));
  std::filesystem::create_directory(options.output_directory);
  options.trace_name = "bench";
  options.max_bytes = std::uint64_t{256} << 20U;
  std::string error;
  const std::unique_ptr<flush::Sink> sink = flush::make_ctf_sink(options, error);
  if (!sink) return state.SkipWithError(error.c_str());
  run_pipeline(state, *sink);
  sink->close();
}

const torchtrace_lttng_provider* recording_provider(benchmark::State& state) {
  static std::string error;
  static const torchtrace_lttng_provider* const provider = [] {
    const auto* loaded = flush::load_lttng_provider(TORCHTRACE_BENCH_PROVIDER, error);
    // The session's events are enabled by a thread of lttng-ust's own.
    for (int i = 0; loaded != nullptr && i < 200 && !flush::lttng_session_records(*loaded); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return loaded;
  }();
  if (provider != nullptr && flush::lttng_session_records(*provider)) return provider;
  state.SkipWithError(provider == nullptr ? error.c_str() : "no LTTng session records");
  return nullptr;
}

void lttng(benchmark::State& state) {
  const auto* provider = recording_provider(state);
  if (provider == nullptr) return;
  const std::unique_ptr<flush::Sink> sink = flush::make_lttng_sink(*provider);
  run_pipeline(state, *sink, kPause);
}

void bare_tracepoint(benchmark::State& state) {
  const auto* provider = recording_provider(state);
  if (provider == nullptr) return;
  torchtrace_op event{};
  event.name = "aten::synthetic_10.Tensor";
  event.seq = -1;
  while (state.KeepRunning()) {
    time_batch(state, [&] {
      for (std::uint64_t i = 0; i < kBatch; ++i) {
        event.ts += 100;
        ++event.op_id;
        provider->emit_op(&event);
      }
    });
    std::this_thread::sleep_for(kPause);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}

BENCHMARK(none)->Iterations(kBatches)->UseManualTime();
BENCHMARK(ctf)->Iterations(kBatches)->UseManualTime();
BENCHMARK(lttng)->Iterations(kBatches)->UseManualTime();
BENCHMARK(bare_tracepoint)->Iterations(kBatches)->UseManualTime();

}  // namespace

}  // namespace torchtrace::bench

BENCHMARK_MAIN();
