#include "flush/sequencer.h"

#include <algorithm>

#include "core/events.h"

namespace torchtrace::flush {

using core::OpId;
using core::Record;

void Sequencer::add_open(const core::OpenOpCopy& op) { open_.push_back(op); }

void Sequencer::add_records(const Record* first, std::size_t count) {
  pending_.insert(pending_.end(), first, first + count);
}

void Sequencer::collect_due(std::uint64_t watermark_ticks, std::uint64_t now_ticks) {
  due_.clear();
  collect_records(watermark_ticks);
  collect_open(watermark_ticks);
  collect_vanished(watermark_ticks, now_ticks);
  std::sort(due_.begin(), due_.end(), [](const Due& left, const Due& right) {
    return left.ticks != right.ticks ? left.ticks < right.ticks : left.op_id < right.op_id;
  });
}

void Sequencer::collect_records(std::uint64_t watermark_ticks) {
  for (std::uint32_t index = 0; index < pending_.size(); ++index) {
    const Record& record = pending_[index];
    const bool is_abandoned = (record.flags & core::kFlagAbandoned) != 0;
    Announced* open = nullptr;
    if (announced_count_ != 0) {
      Lane& lane = lanes_[OpId::slot(record.op_id)];
      open = find_announced(lane, record.op_id);
      if (open != nullptr) {
        open->seen = true;
        open->vanished_ticks = 0;  // it had moved to a ring that was not yet known
        note_end(lane, record.op_id, record.t1_ticks);
      }
    }
    if (open != nullptr && record.t1_ticks <= watermark_ticks) {
      due_.push_back({record.t1_ticks, record.op_id, OpKind::kEnd,
                      static_cast<std::uint8_t>(is_abandoned ? TORCHTRACE_OUTCOME_ABANDONED
                                                             : TORCHTRACE_OUTCOME_ENDED),
                      index});
    } else if (open == nullptr && record.t0_ticks <= watermark_ticks) {
      // Counted by its thread; there is nothing in the trace that would have to be closed.
      if (is_abandoned) continue;
      due_.push_back({record.t0_ticks, record.op_id, OpKind::kOp, 0, index});
    } else {
      kept_.push_back(record);
    }
  }
}

void Sequencer::collect_open(std::uint64_t watermark_ticks) {
  for (std::uint32_t index = 0; index < open_.size(); ++index) {
    const core::OpenOpCopy& open = open_[index];
    if (open.t0_ticks > watermark_ticks) continue;
    Announced* known = find_announced(lanes_[OpId::slot(open.op_id)], open.op_id);
    if (known != nullptr) {
      known->seen = true;
      // Had it been open then, the last period would have announced it or kept its record: it has
      // been emitted, and its thread was stopped between the push of its record and the pop of its
      // frame.
    } else if (open.t0_ticks > watermark_ticks_ && !has_pending_record(open.op_id)) {
      due_.push_back({open.t0_ticks, open.op_id, OpKind::kBegin, 0, index});
    }
  }
}

/// Rare: only operators that are open longer than the hold and have not been announced get here.
bool Sequencer::has_pending_record(std::uint64_t op_id) const noexcept {
  return std::any_of(pending_.begin(), pending_.end(),
                     [op_id](const Record& record) { return record.op_id == op_id; });
}

/// An announced operator that is neither on a stack nor in a ring has ended without a record. It is
/// closed at the moment at which that was found, the latest at which it can have ended.
void Sequencer::collect_vanished(std::uint64_t watermark_ticks, std::uint64_t now_ticks) {
  if (announced_count_ == 0) return;
  for (auto& [slot, lane] : lanes_) {
    for (Announced& open : lane.announced) {
      if (!open.seen && open.vanished_ticks == 0) {
        open.vanished_ticks = now_ticks;
        note_end(lane, open.begin.record.op_id, now_ticks);
      }
      open.seen = false;
      if (open.vanished_ticks == 0 || open.vanished_ticks > watermark_ticks) continue;
      const int outcome =
          lane.retired_ticks != 0 ? TORCHTRACE_OUTCOME_ABANDONED : TORCHTRACE_OUTCOME_DROPPED;
      due_.push_back({open.vanished_ticks, open.begin.record.op_id, OpKind::kEnd,
                      static_cast<std::uint8_t>(outcome), kNoRecord});
    }
  }
}

void Sequencer::end_of_advance(std::uint64_t watermark_ticks) {
  pending_.swap(kept_);
  kept_.clear();
  open_.clear();
  watermark_ticks_ = std::max(watermark_ticks_, watermark_ticks);
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
    return true;
  };
  retired_.erase(std::remove_if(retired_.begin(), retired_.end(), is_done), retired_.end());
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
  Lane& lane = lanes_[OpId::slot(due.op_id)];
  if (due.kind == OpKind::kEnd) return resolve_end(due, lane, clock);
  out_ = {};
  out_.kind = due.kind;
  Record& record = out_.record;
  std::uint64_t t1_ticks = kStillOpen;
  if (due.kind == OpKind::kOp) {
    record = pending_[due.index];
    t1_ticks = record.t1_ticks;
    out_.end_ns = clock.to_ns(t1_ticks);
  } else {
    const core::OpenOpCopy& op = open_[due.index];
    record.t0_ticks = op.t0_ticks;
    record.op_id = due.op_id;
    record.parent = op.parent;
    record.sequence_nr = -1;
    record.name_id = op.name_id;
    record.depth = op.depth;
    record.scope = op.scope;
    record.flags = op.flags;
  }
  out_.start_ns = clock.to_ns(record.t0_ticks);
  out_.parent = enclosing_parent(lane, record);
  lane.stack.push_back({due.op_id, t1_ticks, record.depth});
  if (due.ticks < watermark_ticks_) {
    record.flags |= core::kFlagLate;
    ++late_;
  }
  if (due.kind == OpKind::kBegin) {
    lane.announced.push_back({out_, false, 0});
    ++announced_count_;
  }
  return true;
}

bool Sequencer::resolve_end(const Due& due, Lane& lane, const core::TickConverter& clock) {
  Announced* open = find_announced(lane, due.op_id);
  if (open == nullptr) return false;  // closed already
  out_ = open->begin;
  out_.record.flags &= static_cast<std::uint8_t>(~core::kFlagLate);  // that was its begin
  out_.kind = OpKind::kEnd;
  out_.outcome = due.outcome;
  if (due.index != kNoRecord) {
    out_.record = pending_[due.index];
  } else {
    out_.record.end_slot = OpId::slot(due.op_id);
  }
  out_.end_ns = std::max(clock.to_ns(due.ticks), out_.start_ns);
  if (due.ticks < watermark_ticks_) {
    out_.record.flags |= core::kFlagLate;
    ++late_;
  }
  *open = lane.announced.back();
  lane.announced.pop_back();
  --announced_count_;
  return true;
}

void Sequencer::retire(std::uint32_t slot, std::uint64_t now_ticks) {
  lanes_[slot].retired_ticks = now_ticks;
  retired_.push_back(slot);
}

}  // namespace torchtrace::flush
