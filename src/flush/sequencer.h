#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/clock.h"
#include "core/layout.h"
#include "core/record.h"
#include "flush/held_records.h"

namespace torchtrace::flush {

enum class OpKind : std::uint8_t { kOp, kBegin, kEnd };

/// One `op`, `op_begin` or `op_end`, ready to be written.
struct SequencedOp {
  OpKind kind = OpKind::kOp;
  std::uint8_t outcome = 0;  ///< TORCHTRACE_OUTCOME_*, of kEnd.
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;  ///< Of kOp and kEnd.
  std::uint64_t parent = 0;  ///< op_id of the nearest operator in the trace around it, or 0.
  core::Record record{};     ///< Of kBegin: only what is known at the start.
};

/// Puts what the rings and shadow stacks hold into the order of the trace.
///
/// Rings give operators by their end, threads are drained one after the other, and an operator may
/// stay open for hours; a trace wants them by their start, in bounded memory. So everything is held
/// back until the watermark has passed its time: `op` if it has ended by then, else `op_begin` now
/// and `op_end` in its own time. The watermark never waits for an open operator.
///
/// Guarantees: output of one `advance` is sorted by time, and no earlier than the last watermark
/// unless flagged `kFlagLate`; each `op_begin` gets exactly one `op_end` unless the process ends
/// first; a parent comes before its children.
/// Relies on: stacks are read (`add_open`) before rings are drained (`add_record`); a record is
/// pushed before its frame is popped. So an operator that is in neither has been dropped.
/// Thread: one. Memory: records within the hold, plus what is open.
class Sequencer {
 public:
  /// An operator that was open when its thread's stack was read. All of them, on each
  /// period.
  void add_open(const core::OpenOpCopy& op);

  /// Records in the order in which they were drained.
  void add_records(const core::Record* first, std::size_t count);

  /// Moves the watermark, and calls `emit(const SequencedOp&)` for all that it passes. `now_ticks`
  /// is when the stacks were read.
  template <class Emit>
  void advance(std::uint64_t watermark_ticks, std::uint64_t now_ticks,
               const core::TickConverter& clock, Emit&& emit) {
    collect_due(watermark_ticks, now_ticks);
    for (const Due& due : due_) {
      if (resolve(due, clock)) emit(static_cast<const SequencedOp&>(out_));
    }
    end_of_advance(watermark_ticks);
  }

  /// Recovery: an operator that the killed program itself had announced, in the order of start. It
  /// is treated as if this sequencer had.
  void announce(const SequencedOp& begin);

  /// Instead of `advance`, while there is nowhere to write to: keeps the records, forgets the
  /// stacks.
  void hold() { open_.clear(); }

  /// Calls `emit` with a repeated op_begin (`kFlagRepeated`) for all that is open: a new file
  /// begins.
  template <class Emit>
  void repeat_open(Emit&& emit) const {
    for (const auto& [slot, lane] : lanes_) {
      for (const Announced& open : lane.announced) {
        SequencedOp op = open.begin;
        op.record.flags |= core::kFlagRepeated;
        emit(op);
      }
    }
  }

  /// Records held back. Units: count; each is 64 bytes.
  std::size_t pending() const noexcept { return ops_.size() + ends_.size(); }
  /// Operators emitted behind the watermark so far.
  std::uint64_t late() const noexcept { return late_; }
  /// Operators announced and not closed.
  std::size_t announced() const noexcept { return announced_count_; }

  /// The thread of `slot` has ended and all of it has been drained: what it left open is abandoned
  /// with the next `advance`.
  void retire(std::uint32_t slot, std::uint64_t now_ticks);

 private:
  static constexpr std::uint64_t kStillOpen = UINT64_MAX;

  /// An operator of the trace that may stand around what its thread does next.
  struct Enclosing {
    std::uint64_t op_id;
    std::uint64_t t1_ticks;
    std::uint32_t depth;
  };
  struct Announced {
    SequencedOp begin;
    bool seen = false;        ///< Still on its thread's stack.
    bool has_record = false;  ///< It has ended, and its record waits for the watermark.
    /// When it was first found to be neither: it ended before that. 0 = not yet.
    std::uint64_t vanished_ticks = 0;
  };
  struct Lane {
    std::vector<Enclosing> stack;
    std::vector<Announced> announced;
    /// When its thread was found ended and drained; what it left open is abandoned. 0 = it lives.
    std::uint64_t retired_ticks = 0;
  };
  struct Due {
    std::uint64_t ticks;
    std::uint64_t op_id;
    const core::Record* record;  ///< Of kOp, and of kEnd unless it ended without one: nullptr.
    std::uint32_t open_index;    ///< Of kBegin: into open_.
    OpKind kind;
    std::uint8_t outcome;
  };

  void collect_due(std::uint64_t watermark_ticks, std::uint64_t now_ticks);
  void add_end(const core::Record& record);
  Due& add_due(std::uint64_t ticks, std::uint64_t op_id, OpKind kind);
  void sort_due();
  void collect_records(std::uint64_t watermark_ticks);
  void collect_open(std::uint64_t watermark_ticks);
  void collect_vanished(std::uint64_t watermark_ticks, std::uint64_t now_ticks);
  void end_of_advance(std::uint64_t watermark_ticks);
  void forget_retired();
  /// Fills `out_`; false if there is nothing to emit after all.
  bool resolve(const Due& due, const core::TickConverter& clock);
  bool resolve_end(const Due& due, Lane& lane, const core::TickConverter& clock);
  void resolve_op(const core::Record& record, const core::TickConverter& clock);
  void resolve_begin(const core::OpenOpCopy& op);
  void flag_if_late(const Due& due) noexcept;
  Lane& lane_of(std::uint32_t slot);
  bool has_due_record(std::uint64_t op_id) const noexcept;
  static Announced* find_announced(Lane& lane, std::uint64_t op_id) noexcept;
  static void note_end(Lane& lane, std::uint64_t op_id, std::uint64_t t1_ticks) noexcept;
  static std::uint64_t enclosing_parent(Lane& lane, const core::Record& record);

  std::unordered_map<std::uint32_t, Lane> lanes_;
  std::uint32_t last_slot_ = 0;  ///< Slots begin at 1.
  Lane* last_lane_ = nullptr;
  HeldRecords<&core::Record::t0_ticks> ops_;
  HeldRecords<&core::Record::t1_ticks> ends_;  ///< Of operators that have been announced.
  std::vector<core::OpenOpCopy> open_;
  std::vector<Due> due_;
  std::vector<std::uint32_t> retired_;
  SequencedOp out_;
  std::uint64_t watermark_ticks_ = 0;
  std::uint64_t announced_ticks_ = 0;  ///< Operators that start later have not been announced.
  std::uint64_t late_ = 0;
  std::size_t announced_count_ = 0;
};

}  // namespace torchtrace::flush
