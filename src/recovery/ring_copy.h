#pragma once

#include <algorithm>
#include <cstdint>

#include "core/layout.h"

/// Which slots of a ring hold a whole record: the one place that knows how rings are written.
namespace torchtrace::recovery {

/// A ring's indexes at one moment.
struct RingIndexes {
  std::uint64_t tail = 0;
  /// Behind the last slot that its producer may be writing into.
  std::uint64_t busy_end = 0;

  /// `slots`: its capacity.
  static RingIndexes read(const core::ThreadHeader& header, std::uint64_t slots) noexcept {
    const std::uint64_t tail = header.ring.tail.load(std::memory_order_relaxed);
    if (header.ring_policy == core::kRingOverwriteOldest) {
      // Its consumer counts as lost whatever is in a reserved slot, written or not yet.
      return {tail, std::max(tail, header.ring_reserved.load(std::memory_order_relaxed))};
    }
    const bool is_full = tail - header.head.load(std::memory_order_relaxed) == slots;
    return {tail, is_full ? tail : tail + 1};
  }
};

/// True if the slot `index` of a ring of `slots` (a power of two) held the same record during the
/// whole of a copy that was made between `before` and `after`; of a dead process both are the same.
/// Records stay where they are after the flush thread has taken them, until their producer comes
/// round again: what it has lost can be found there.
inline bool is_whole_slot(std::uint64_t index, std::uint64_t slots, const RingIndexes& before,
                          const RingIndexes& after) noexcept {
  const std::uint64_t distance = (index - before.tail) & (slots - 1);
  return distance >= after.busy_end - before.tail;
}

/// Records that were overwritten and that the consumer had not yet found to be.
inline std::uint64_t uncounted_overwritten(const core::ThreadHeader& header,
                                           std::uint64_t slots) noexcept {
  if (header.ring_policy != core::kRingOverwriteOldest) return 0;
  const std::uint64_t head = header.head.load(std::memory_order_relaxed);
  const RingIndexes now = RingIndexes::read(header, slots);
  const std::uint64_t lost = now.busy_end - head;
  return lost > slots ? std::min(lost - slots, now.tail - head) : 0;
}

}  // namespace torchtrace::recovery
