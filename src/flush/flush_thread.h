#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "core/process.h"
#include "flush/collector.h"
#include "flush/operator_source.h"
#include "flush/process_info.h"
#include "flush/sequencer.h"
#include "flush/sink_choice.h"
#include "flush/trace_clock.h"
#include "flush/trace_writer.h"

namespace torchtrace::flush {

/// The background thread: every `period_ns` it drains the rings, orders what it found, and hands
/// what the watermark has passed to the sink.
///
/// Named `torchtrace-sink`, all signals blocked, sleeps on a futex and never spins. A thread whose
/// ring is full may wait for it (core/full_ring.h) while it holds any lock of the program; of those
/// it takes the loader's as it opens the provider, the allocator's, and PyTorch's as it registers.
/// Owner: leaked on purpose; a forked child has none until its first operator.
class FlushThread {
 public:
  struct Options {
    std::uint64_t period_ns = 0;
    std::uint64_t hold_ns = 0;
    ProcessInfo info;
    SinkChoice::Options sink;
    std::uint32_t spare_buffers = 0;
    std::uint64_t snapshot_ns = 0;   ///< Flight recorder: how much of ended threads is kept.
    std::uint64_t slow_step_ns = 0;  ///< Flight recorder: what is slow; 0: nothing is.
    OperatorSource source;
  };

  FlushThread(core::Process& process, Options options);

  /// Starts the thread. False if the system has none to give: nothing will be written.
  bool start() noexcept;

  /// Lets the thread drain what is left, write the final receipt and close the trace; waits for
  /// that at most `deadline_ns`. Callable from any thread, exit handlers included. False at the
  /// deadline.
  bool finish(std::uint64_t deadline_ns) noexcept;

  /// The LTTng provider's fork functions, if it is loaded. See agent/fork_handlers.
  const torchtrace_lttng_provider* provider() const noexcept { return choice_.provider(); }

  /// True on the thread itself.
  bool is_this_thread() const noexcept;

  /// Held while the thread is inside the loader: a fork has to wait for that.
  pthread_mutex_t& loader_mutex() noexcept { return loader_mutex_; }

 private:
  static void* run(void* self) noexcept;
  void loop();
  void prepare();
  void watch_clock();
  void period();
  void advance(std::uint64_t watermark_ticks, std::uint64_t now_ticks);
  void every_second();
  void write_state();
  torchtrace_receipt receipt_of(const Totals& totals) const;
  void write_receipt(bool is_final);
  bool is_flight_recorder() const noexcept;
  void tend_recorder(bool is_last);
  bool calibrate_recorder(std::uint64_t now_ns);
  void dump(const char* why);
  bool collect_for_dump();
  void last_periods();
  void tell_source() noexcept;
  void end_with_program();

  core::Process& process_;
  Options options_;
  Collector collector_;
  Sequencer sequencer_;
  TraceClock clock_;
  SinkChoice choice_;
  TraceWriter writer_;
  /// Before the first operator's start, so that what is written first is not later than it.
  std::uint64_t started_ns_ = core::clock_ns(CLOCK_MONOTONIC);
  std::uint64_t watermark_ns_ = started_ns_;
  std::uint64_t next_second_ns_ = 0;
  std::uint64_t next_look_ns_ = 0;  ///< For the program's own threads.
  std::uint64_t names_overflowed_ = 0;
  std::uint64_t clock_stepped_ = 0;  ///< Operators written with an estimated time.
  Totals dumped_;                    ///< Up to the last dump.
  std::uint64_t dumped_late_ = 0;
  std::uint64_t dumped_inherited_ = 0;
  std::uint64_t next_dump_ns_ = 0;
  const char* dump_reason_ = nullptr;  ///< One is to be made.
  std::atomic<pid_t> tid_{0};
  std::atomic<std::uint32_t> has_finished_{0};  ///< Futex.
  pthread_mutex_t loader_mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

}  // namespace torchtrace::flush
