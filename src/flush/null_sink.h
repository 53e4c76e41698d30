#pragma once

#include "flush/sink.h"

namespace torchtrace::flush {

/// Writes nothing and counts what it is handed: `output.sink = "none"`, or no trace could be
/// written.
class NullSink final : public Sink {
 public:
  void process(const torchtrace_process& /*event*/) noexcept override {}
  void thread(const torchtrace_thread& /*event*/) noexcept override {}
  void op(const torchtrace_op& /*event*/) noexcept override { ++counts_.lost_elsewhere; }
  void op_begin(const torchtrace_op_begin& /*event*/) noexcept override {}
  void op_end(const torchtrace_op_end& event) noexcept override {
    if (event.outcome == TORCHTRACE_OUTCOME_ENDED) ++counts_.lost_elsewhere;
  }
  void loss(const torchtrace_loss& /*event*/) noexcept override {}
  void receipt(const torchtrace_receipt& /*event*/) noexcept override {}
  void end_of_period(std::uint64_t /*now_ns*/) noexcept override {}
  bool wants_state() noexcept override { return false; }
  Counts counts() const noexcept override { return counts_; }
  void close() noexcept override {}

 private:
  Counts counts_;
};

}  // namespace torchtrace::flush
