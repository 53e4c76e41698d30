#pragma once

#include <cstdint>

#include "core/layout.h"

namespace torchtrace::core {

/// Slots that a producer which overwrites takes at once: it announces them 64 times less often, and
/// a ring holds that much less for certain.
inline constexpr std::uint64_t kOverwriteBatch = 64;

/// How long an operator's end waits for room with policy `block`. Within it falls what the flush
/// thread may have to wait for itself while the waiting thread holds the lock: the loader's as it
/// loads the LTTng provider, the allocator's where the host's allocator has one.
inline constexpr std::uint64_t kBlockLimit_ns = 100'000'000;

/// Makes room for one more record where the producer has come to the end of what it knows to be
/// free, as `header.ring_policy` says. False: there is none.
///
/// `block`: spins for a moment, then wakes the flush thread and sleeps. Waits only for a flush
/// thread that is there, never in that thread itself and not once the program is leaving. After a
/// wait in vain there is none until the flush thread has taken something from this ring: it may be
/// dead, or wait for a lock that this thread holds.
///
/// Thread: the buffer's own. Not hot. errno is kept.
bool make_room(ThreadHeader& header) noexcept;

/// The counter for a record that `make_room` had no room for.
Counter& no_room_counter(ThreadHeader& header) noexcept;

}  // namespace torchtrace::core
