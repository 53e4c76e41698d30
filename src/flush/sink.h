#pragma once

#include <cstdint>

#include "core/events.h"

namespace torchtrace::flush {

/// Where the flush thread's events go.
///
/// Thread: every function is called on the flush thread, or, once that has ended, on the one thread
/// that does the final drain. No function blocks without bound or throws.
/// Order: `op`, `op_begin` and `op_end` arrive sorted by `ts`, except those with `kFlagLate`.
/// Owner: strings in events live until the call returns.
/// Once nothing more can be kept (disk full, `when_full = "stop"`) the flush thread goes on
/// calling: the sink counts what it does not write.
class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;

  virtual void process(const torchtrace_process& event) noexcept = 0;
  virtual void thread(const torchtrace_thread& event) noexcept = 0;
  virtual void op(const torchtrace_op& event) noexcept = 0;
  virtual void op_begin(const torchtrace_op_begin& event) noexcept = 0;
  virtual void op_end(const torchtrace_op_end& event) noexcept = 0;
  virtual void loss(const torchtrace_loss& event) noexcept = 0;
  virtual void receipt(const torchtrace_receipt& event) noexcept = 0;

  /// Called once per flush period, after that period's events.
  virtual void end_of_period(std::uint64_t now_ns) noexcept = 0;

  /// True once after a new file (rotation) or a new session began: the flush thread then repeats
  /// `process`, `thread` and `op_begin` of all that is open, so that each can be read by itself.
  virtual bool wants_state() noexcept = 0;

  /// Counts of operators (`op`, and `op_end` with outcome ended) handed to this sink.
  /// handed in = written + lost_disk_full + lost_rotated_out + lost_elsewhere.
  struct Counts {
    std::uint64_t written = 0;
    std::uint64_t lost_disk_full = 0;
    std::uint64_t lost_rotated_out = 0;
    std::uint64_t lost_elsewhere = 0;  ///< No session had the event enabled.
  };
  virtual Counts counts() const noexcept = 0;

  /// Writes out what is buffered and closes; no call but `counts` follows.
  virtual void close() noexcept = 0;
};

}  // namespace torchtrace::flush
