#pragma once

#include <optional>

#include "core/clock.h"
#include "core/layout.h"
#include "flush/tick_repair.h"

namespace torchtrace::recovery {

/// The process's function from ticks to CLOCK_MONOTONIC ns, made again from the anchors that it has
/// left: the same one for a process that lived for up to a minute, else one that differs by what
/// was worked off before the oldest anchor left, some ns. A process that died before its second
/// anchor gets one that is taken now, on the same machine.
/// Sets which clock ticks are of (`core::use_counter`).
core::TickConverter make_clock(const core::ProcessHeader& header) noexcept;

/// What brings ticks of a process that gave its counter up while it ran to one axis, that of its
/// anchors; nothing for one that did not.
std::optional<flush::TickRepair> make_repair(const core::ProcessHeader& header);

/// The newest anchor; all zero if there is none.
core::ClockAnchor last_anchor(const core::ProcessHeader& header) noexcept;

}  // namespace torchtrace::recovery
