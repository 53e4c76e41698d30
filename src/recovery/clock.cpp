#include "recovery/clock.h"

#include <algorithm>

namespace torchtrace::recovery {

core::ClockAnchor last_anchor(const core::ProcessHeader& header) noexcept {
  const std::uint32_t count = header.anchor_count.load(std::memory_order_acquire);
  return count == 0 ? core::ClockAnchor{} : header.anchors[(count - 1) % core::kAnchorsKept];
}

std::optional<flush::TickRepair> make_repair(const core::ProcessHeader& header) {
  if (header.clock_has_switched.load(std::memory_order_acquire) == 0) return std::nullopt;
  const core::ClockSwitch& point = header.clock_switch;
  // Damaged otherwise; no counter ticks faster.
  const bool is_sane = point.ticks_per_ns > 0 && point.ticks_per_ns < 100;
  if (!is_sane) return std::nullopt;
  // Records of before the switch are still in the rings.
  return flush::TickRepair(point, std::nullopt, false);
}

core::TickConverter make_clock(const core::ProcessHeader& header) noexcept {
  core::use_counter(header.clock_is_tsc != 0);
  core::TickConverter clock;
  const std::uint32_t count = header.anchor_count.load(std::memory_order_acquire);
  if (count < 2) {
    const core::ClockAnchor now = core::take_anchor();
    clock.start(count == 0 ? now : last_anchor(header), now);
    return clock;
  }
  const auto kept = std::min<std::uint32_t>(count, core::kAnchorsKept);
  const auto anchor = [&](std::uint32_t number) -> const core::ClockAnchor& {
    return header.anchors[(count - kept + number) % core::kAnchorsKept];
  };
  clock.start(anchor(0), anchor(1));
  for (std::uint32_t number = 2; number < kept; ++number) clock.add(anchor(number));
  return clock;
}

}  // namespace torchtrace::recovery
