#include "flush/trace_writer.h"

namespace torchtrace::flush {

namespace {

/// The fields that `op` and `op_end` share.
template <class Event>
void fill_ended(Event& event, const SequencedOp& op, std::uint32_t pid, const ThreadInfo& thread,
                std::uint32_t end_tid) {
  event.dur = op.end_ns - op.start_ns;
  event.pid = pid;
  event.tid = thread.tid;
  event.end_tid = end_tid;
  event.op_id = op.record.op_id;
  event.parent = op.parent;
  event.seq = op.record.sequence_nr;
  event.fwd_thread = op.record.forward_thread;
  event.commands = op.record.commands;
  event.depth = op.record.depth;
  event.scope = op.record.scope;
  event.flags = op.record.flags;
}

}  // namespace

std::uint32_t TraceWriter::end_tid(const SequencedOp& op, const ThreadInfo& thread) const {
  return op.record.end_slot == thread.slot ? thread.tid : threads_.find(op.record.end_slot).tid;
}

void TraceWriter::op(Sink& sink, const SequencedOp& op) {
  const ThreadInfo& thread = threads_.find(core::OpId::slot(op.record.op_id));
  if (op.kind == OpKind::kEnd) return op_end(sink, op, thread);
  const char* name = names_.text(op.record.name_id).data();
  if (op.kind == OpKind::kOp) {
    torchtrace_op event{};
    fill_ended(event, op, info_.pid, thread, end_tid(op, thread));
    event.ts = op.start_ns;
    event.name = name;
    return sink.op(event);
  }
  torchtrace_op_begin event{};
  event.ts = op.start_ns;
  event.pid = info_.pid;
  event.tid = thread.tid;
  event.op_id = op.record.op_id;
  event.parent = op.parent;
  event.depth = op.record.depth;
  event.scope = op.record.scope;
  event.flags = op.record.flags;
  event.name = name;
  sink.op_begin(event);
}

void TraceWriter::op_end(Sink& sink, const SequencedOp& op, const ThreadInfo& thread) {
  torchtrace_op_end event{};
  fill_ended(event, op, info_.pid, thread, end_tid(op, thread));
  event.ts = op.end_ns;
  event.outcome = op.outcome;
  event.name = names_.text(op.record.name_id).data();
  sink.op_end(event);
}

void TraceWriter::process(Sink& sink, std::uint64_t ts_ns, const core::ClockAnchor& anchor,
                          const core::TickConverter& clock) {
  torchtrace_process event{};
  event.ts = ts_ns;
  event.pid = info_.pid;
  event.start_time = info_.start_time;
  event.rank = info_.rank;
  event.world_size = info_.world_size;
  event.host = info_.host.c_str();
  event.command = info_.command.c_str();
  event.torch_version = info_.torch_version.c_str();
  event.torch_path = info_.torch_path.c_str();
  event.torch_layout =
      info_.describe_layout == nullptr ? info_.torch_layout.c_str() : info_.describe_layout();
  event.agent_version = info_.agent_version.c_str();
  event.config_digest = info_.config_digest.c_str();
  event.clock = core::g_ticks_are_counter.load(std::memory_order_relaxed) ? "tsc" : "monotonic";
  event.clock_hz = static_cast<std::uint64_t>(clock.hz() + 0.5);
  event.anchor_ticks = anchor.ticks;
  event.anchor_monotonic_ns = anchor.monotonic_ns;
  event.anchor_monotonic_raw_ns = anchor.monotonic_raw_ns;
  event.anchor_realtime_ns = anchor.realtime_ns;
  event.hold_ns = timing_.hold_ns;
  event.period_ns = timing_.period_ns;
  sink.process(event);
}

void TraceWriter::thread(Sink& sink, std::uint64_t ts_ns, std::uint32_t slot) {
  const ThreadInfo& thread = threads_.find(slot);
  torchtrace_thread event{};
  event.ts = ts_ns;
  event.pid = info_.pid;
  event.tid = thread.tid;
  event.slot = thread.slot;
  event.torch_thread = thread.torch_thread;
  event.name = thread.name.c_str();
  sink.thread(event);
}

void TraceWriter::loss(Sink& sink, std::uint64_t ts_ns, const Loss& loss) {
  torchtrace_loss event{};
  event.ts = ts_ns;
  event.pid = info_.pid;
  event.tid = threads_.find(loss.slot).tid;
  event.reason = loss.reason;
  event.count = loss.count;
  event.first = loss.first;
  event.last = loss.last;
  sink.loss(event);
}

}  // namespace torchtrace::flush
