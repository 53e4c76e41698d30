#include "flush/sequencer.h"

#include <algorithm>

#include "core/events.h"

namespace torchtrace::flush {

using core::OpId;
using core::Record;

void Sequencer::add_open(const core::OpenOpCopy& op) { open_.push_back(op); }

void Sequencer::announce(const SequencedOp& begin) {
  Lane& lane = lane_of(OpId::slot(begin.record.op_id));
  lane.stack.push_back({begin.record.op_id, kStillOpen, begin.record.depth});
  lane.announced.push_back({begin, false, false, 0});
  ++announced_count_;
  announced_ticks_ = UINT64_MAX;  // by another clock, perhaps: any
}

void Sequencer::add_records(const Record* first, std::size_t count) {
  for (const Record* record = first; record != first + count; ++record) {
    // Only what the watermark had passed can have been announced.
    if (announced_count_ != 0 && record->t0_ticks <= announced_ticks_) {
      add_end(*record);
    } else {
      ops_.add(*record);
    }
  }
}

void Sequencer::add_end(const Record& record) {
  Lane& lane = lane_of(OpId::slot(record.op_id));
  Announced* open = find_announced(lane, record.op_id);
  if (open == nullptr) return ops_.add(record);  // late
  open->has_record = true;
  open->vanished_ticks = 0;  // it had moved to a ring that was not yet known
  note_end(lane, record.op_id, record.t1_ticks);
  ends_.add(record);
}

void Sequencer::collect_due(std::uint64_t watermark_ticks, std::uint64_t now_ticks) {
  due_.clear();
  collect_records(watermark_ticks);
  collect_open(watermark_ticks);
  collect_vanished(watermark_ticks, now_ticks);
  sort_due();
}

/// What one thread left needs little sorting: a parent comes a few places too late. So by
/// insertion, for as long as that is cheaper.
void Sequencer::sort_due() {
  const auto is_before = [](const Due& left, const Due& right) {
    return left.ticks != right.ticks ? left.ticks < right.ticks : left.op_id < right.op_id;
  };
  constexpr std::size_t kMovesPerEntry = 4;
  std::size_t moves_left = due_.size() * kMovesPerEntry;
  for (std::size_t at = 1; at < due_.size(); ++at) {
    if (!is_before(due_[at], due_[at - 1])) continue;
    const Due moving = due_[at];
    std::size_t hole = at;
    for (; hole != 0 && is_before(moving, due_[hole - 1]) && moves_left != 0; --moves_left) {
      due_[hole] = due_[hole - 1];
      --hole;
    }
    due_[hole] = moving;
    if (moves_left == 0) return std::sort(due_.begin(), due_.end(), is_before);
  }
}

/// Filled in place: a struct that is built on the stack in small stores and then copied in large
/// loads waits for the stores to retire, 10 ns for each operator.
Sequencer::Due& Sequencer::add_due(std::uint64_t ticks, std::uint64_t op_id, OpKind kind) {
  Due& due = due_.emplace_back();
  due.ticks = ticks;
  due.op_id = op_id;
  due.kind = kind;
  return due;
}

void Sequencer::collect_records(std::uint64_t watermark_ticks) {
  ops_.take(watermark_ticks, [this](const Record& record) {
    add_due(record.t0_ticks, record.op_id, OpKind::kOp).record = &record;
  });
  ends_.take(watermark_ticks, [this](const Record& record) {
    const bool is_abandoned = (record.flags & core::kFlagAbandoned) != 0;
    Due& due = add_due(record.t1_ticks, record.op_id, OpKind::kEnd);
    due.record = &record;
    due.outcome = is_abandoned ? TORCHTRACE_OUTCOME_ABANDONED : TORCHTRACE_OUTCOME_ENDED;
  });
}

void Sequencer::collect_open(std::uint64_t watermark_ticks) {
  for (std::uint32_t index = 0; index < open_.size(); ++index) {
    const core::OpenOpCopy& open = open_[index];
    if (open.t0_ticks > watermark_ticks) continue;
    Announced* known = find_announced(lane_of(OpId::slot(open.op_id)), open.op_id);
    if (known != nullptr) {
      known->seen = true;
      // Had it been open then, the last period would have announced it or kept its record: it has
      // been emitted, and its thread was stopped between the push of its record and the pop of its
      // frame.
    } else if (open.t0_ticks > watermark_ticks_ && !has_due_record(open.op_id)) {
      add_due(open.t0_ticks, open.op_id, OpKind::kBegin).open_index = index;
    }
  }
}

/// Rare: only operators that are open longer than the hold and have not been announced get here.
bool Sequencer::has_due_record(std::uint64_t op_id) const noexcept {
  return std::any_of(due_.begin(), due_.end(), [op_id](const Due& due) {
    return due.op_id == op_id && due.record != nullptr;
  });
}

/// An announced operator that is neither on a stack nor in a ring has ended without a record. It is
/// closed at the moment at which that was found, the latest at which it can have ended.
void Sequencer::collect_vanished(std::uint64_t watermark_ticks, std::uint64_t now_ticks) {
  if (announced_count_ == 0) return;
  for (auto& [slot, lane] : lanes_) {
    for (Announced& open : lane.announced) {
      if (!open.seen && !open.has_record && open.vanished_ticks == 0) {
        open.vanished_ticks = now_ticks;
        note_end(lane, open.begin.record.op_id, now_ticks);
      }
      open.seen = false;
      if (open.vanished_ticks == 0 || open.vanished_ticks > watermark_ticks) continue;
      add_due(open.vanished_ticks, open.begin.record.op_id, OpKind::kEnd).outcome =
          lane.retired_ticks != 0 ? TORCHTRACE_OUTCOME_ABANDONED : TORCHTRACE_OUTCOME_DROPPED;
    }
  }
}

void Sequencer::end_of_advance(std::uint64_t watermark_ticks) {
  open_.clear();
  watermark_ticks_ = std::max(watermark_ticks_, watermark_ticks);
  announced_ticks_ = std::max(announced_ticks_, watermark_ticks_);
  forget_retired();
}

/// Only now: until the watermark has passed a thread's end, operators of it may be held back, and
/// they need to know what stood around them.
void Sequencer::forget_retired() {
  const auto is_done = [this](std::uint32_t slot) {
    const auto found = lanes_.find(slot);
    if (found == lanes_.end()) return true;
    const Lane& lane = found->second;
    if (lane.retired_ticks > watermark_ticks_ || !lane.announced.empty()) return false;
    lanes_.erase(found);
    last_slot_ = 0;
    return true;
  };
  retired_.erase(std::remove_if(retired_.begin(), retired_.end(), is_done), retired_.end());
}

/// Most operators are of the thread that the one before was of.
Sequencer::Lane& Sequencer::lane_of(std::uint32_t slot) {
  if (slot != last_slot_ || slot == 0) {
    last_lane_ = &lanes_[slot];
    last_slot_ = slot;
  }
  return *last_lane_;
}

Sequencer::Announced* Sequencer::find_announced(Lane& lane, std::uint64_t op_id) noexcept {
  for (Announced& open : lane.announced) {
    if (open.begin.record.op_id == op_id) return &open;
  }
  return nullptr;
}

void Sequencer::note_end(Lane& lane, std::uint64_t op_id, std::uint64_t t1_ticks) noexcept {
  for (Enclosing& enclosing : lane.stack) {
    if (enclosing.op_id == op_id) enclosing.t1_ticks = t1_ticks;
  }
}

/// The thread's own word if that operator is in the trace; if it was dropped, the nearest one that
/// is. Operators arrive by their start, so what stands around the next one of a thread is what has
/// been seen at a smaller depth and has not ended by then.
std::uint64_t Sequencer::enclosing_parent(Lane& lane, const Record& record) {
  while (!lane.stack.empty() && lane.stack.back().depth >= record.depth) lane.stack.pop_back();
  const auto rbegin = lane.stack.rbegin();
  const auto rend = lane.stack.rend();
  auto found = std::find_if(rbegin, rend,
                            [&](const Enclosing& around) { return around.op_id == record.parent; });
  if (found == rend && record.parent != 0) {
    found = std::find_if(
        rbegin, rend, [&](const Enclosing& around) { return around.t1_ticks > record.t0_ticks; });
  }
  return found == rend ? 0 : found->op_id;
}

bool Sequencer::resolve(const Due& due, const core::TickConverter& clock) {
  Lane& lane = lane_of(OpId::slot(due.op_id));
  if (due.kind == OpKind::kEnd) return resolve_end(due, lane, clock);
  std::uint64_t t1_ticks = kStillOpen;
  if (due.kind == OpKind::kOp) {
    // Counted by its thread; there is nothing in the trace that would have to be closed.
    if ((due.record->flags & core::kFlagAbandoned) != 0) return false;
    t1_ticks = due.record->t1_ticks;
    resolve_op(*due.record, clock);
  } else {
    resolve_begin(open_[due.open_index]);
  }
  out_.kind = due.kind;
  out_.outcome = 0;
  out_.start_ns = clock.to_ns(out_.record.t0_ticks);
  out_.parent = enclosing_parent(lane, out_.record);
  Enclosing& top = lane.stack.emplace_back();
  top.op_id = due.op_id;
  top.t1_ticks = t1_ticks;
  top.depth = out_.record.depth;
  flag_if_late(due);
  if (due.kind == OpKind::kBegin) {
    lane.announced.push_back({out_, false, false, 0});
    ++announced_count_;
  }
  return true;
}

void Sequencer::resolve_op(const Record& record, const core::TickConverter& clock) {
  out_.record = record;
  out_.end_ns = clock.to_ns(record.t1_ticks);
}

void Sequencer::resolve_begin(const core::OpenOpCopy& op) {
  out_.record = {};
  out_.record.t0_ticks = op.t0_ticks;
  out_.record.op_id = op.op_id;
  out_.record.parent = op.parent;
  out_.record.sequence_nr = -1;
  out_.record.name_id = op.name_id;
  out_.record.depth = op.depth;
  out_.record.scope = op.scope;
  out_.record.flags = op.flags;
  out_.end_ns = 0;
}

void Sequencer::flag_if_late(const Due& due) noexcept {
  if (due.ticks >= watermark_ticks_) return;
  out_.record.flags |= core::kFlagLate;
  ++late_;
}

bool Sequencer::resolve_end(const Due& due, Lane& lane, const core::TickConverter& clock) {
  Announced* open = find_announced(lane, due.op_id);
  if (open == nullptr) return false;  // closed already
  out_ = open->begin;
  out_.record.flags &= static_cast<std::uint8_t>(~core::kFlagLate);  // that was its begin
  out_.kind = OpKind::kEnd;
  out_.outcome = due.outcome;
  if (due.record != nullptr) {
    out_.record = *due.record;
  } else {
    out_.record.end_slot = OpId::slot(due.op_id);
  }
  out_.end_ns = std::max(clock.to_ns(due.ticks), out_.start_ns);
  flag_if_late(due);
  *open = lane.announced.back();
  lane.announced.pop_back();
  --announced_count_;
  return true;
}

void Sequencer::retire(std::uint32_t slot, std::uint64_t now_ticks) {
  lane_of(slot).retired_ticks = now_ticks;
  retired_.push_back(slot);
}

}  // namespace torchtrace::flush
