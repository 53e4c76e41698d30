#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "flush/thread_buffers.h"
#include "recovery/own_trace.h"
#include "recovery/process_copy.h"

namespace torchtrace::recovery {

/// What one thread was in the middle of.
struct ThreadEvidence {
  flush::ThreadInfo info;
  bool has_ended = false;  ///< Its buffer was still to be drained, or waits for the next thread.
  std::uint64_t started = 0;
  std::uint64_t last_op_id = 0;
  /// In the order of their start.
  std::vector<core::OpenOpCopy> open;
  /// Killed between the count of a start and the frame on its stack: its name is not known.
  bool was_starting = false;
};

/// All that a mapping tells of operators, each of them once.
struct Evidence {
  std::vector<ThreadEvidence> threads;
  std::vector<core::Record> records;  ///< Whole ones in the rings, written or not.
  flush::Totals totals;               ///< `open` is set by `settle`.

  /// op_ids of which `settle` wants to know whether the program's own trace holds them.
  std::unordered_set<std::uint64_t> op_ids() const;

  /// Decides what is open. A kill comes between any two stores: an operator that has a record, or
  /// is in the trace, has ended though its frame is still there; one that was counted and is
  /// nowhere else was starting.
  void settle(const OwnTrace& own);
};

Evidence gather(const ProcessCopy& copy);

}  // namespace torchtrace::recovery
