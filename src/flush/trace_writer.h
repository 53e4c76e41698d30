#pragma once

#include "core/clock.h"
#include "core/names.h"
#include "flush/process_info.h"
#include "flush/sequencer.h"
#include "flush/sink.h"
#include "flush/thread_buffers.h"

namespace torchtrace::flush {

/// Turns what the collector and the sequencer know into events for a sink. Thread: the flush
/// thread.
class TraceWriter {
 public:
  struct Timing {
    std::uint64_t hold_ns;
    std::uint64_t period_ns;
  };

  TraceWriter(const ProcessInfo& info, const core::NameArena& names, const ThreadDirectory& threads,
              Timing timing)
      : info_(info), names_(names), threads_(threads), timing_(timing) {}

  void op(Sink& sink, const SequencedOp& op);
  void process(Sink& sink, std::uint64_t ts_ns, const core::ClockAnchor& anchor,
               const core::TickConverter& clock);
  void thread(Sink& sink, std::uint64_t ts_ns, std::uint32_t slot);
  void loss(Sink& sink, std::uint64_t ts_ns, const Loss& loss);

 private:
  void op_end(Sink& sink, const SequencedOp& op, const ThreadInfo& thread);
  std::uint32_t end_tid(const SequencedOp& op, const ThreadInfo& thread) const;

  const ProcessInfo& info_;
  core::NameArena names_;
  const ThreadDirectory& threads_;
  Timing timing_;
};

}  // namespace torchtrace::flush
