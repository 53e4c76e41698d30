#pragma once

#include <algorithm>
#include <cstdint>

#include "core/layout.h"

/// Which slots of a ring hold a whole record: the one place that knows how rings are written.
namespace torchtrace::recovery {

/// The ring's indexes, read before and after its slots were copied. Equal for a dead process.
struct RingIndexes {
  std::uint64_t head = 0;
  std::uint64_t tail = 0;

  static RingIndexes read(const core::ThreadHeader& header) noexcept {
    return {header.head.load(std::memory_order_relaxed),
            header.ring.tail.load(std::memory_order_relaxed)};
  }
};

/// True if the slot `index` of a ring of `slots` (a power of two) held the same record during the
/// whole copy. Records stay where they are after the flush thread has taken them, until their
/// producer comes round again: what it has lost can be found there. Only the slots from `before` to
/// `after` may have been written meanwhile, the last of them by half, unless the ring is full: then
/// its producer writes nothing.
inline bool is_whole_slot(std::uint64_t index, std::uint64_t slots, const RingIndexes& before,
                          const RingIndexes& after) noexcept {
  const std::uint64_t written = after.tail - before.tail;
  if (written >= slots) return false;
  const bool is_full = after.tail - after.head == slots;
  const std::uint64_t distance = (index - before.tail) & (slots - 1);
  return is_full ? distance >= written : distance > written;
}

}  // namespace torchtrace::recovery
