#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/record.h"

namespace torchtrace::bench {

using Records = std::vector<core::Record>;

/// Records that a queue holds per producer: those of the default buffer of 2 MiB.
inline constexpr std::size_t kCapacity = 1U << 15U;

/// A record as the op path writes it: every field, from what is in registers. The same for each
/// queue; inlined into the slot where the queue allows that.
inline void fill(core::Record& record, std::uint64_t count) noexcept {
  record.t0_ticks = count;
  record.t1_ticks = count + 1;
  record.op_id = count;
  record.sequence_nr = -1;
  record.forward_thread = 0;
  record.name_id = static_cast<std::uint32_t>(count);
  record.end_slot = 1;
  record.commands = 0;
  record.depth = 0;
  record.scope = 0;
  record.flags = 0;
  record.parent = count;
}

}  // namespace torchtrace::bench
