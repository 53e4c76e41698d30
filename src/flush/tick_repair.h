#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "core/clock.h"
#include "core/layout.h"

namespace torchtrace::flush {

/// Makes one axis of two: ticks of the counter until it was given up, and CLOCK_MONOTONIC from
/// then on, expressed as what a good counter would have shown.
///
/// Between the last good look at the counter and the switch nobody knows what it showed. Time
/// stamps of those few ms are all placed in the middle, so that whatever the counter did, no
/// operator ends before it starts and none reaches out of the one around it; the operators get
/// `kFlagClockStepped`.
/// Thread: one.
class TickRepair {
 public:
  /// Per thread slot, how many operators had started before the last good look.
  using Starts = std::unordered_map<std::uint32_t, std::uint64_t>;

  /// `starts`: nothing where that is not known; then only the counter's value says what is
  /// doubtful. `ends_are_new`: all records that are repaired ended after the last good look.
  TickRepair(const core::ClockSwitch& point, std::optional<Starts> starts, bool ends_are_new)
      : point_(point), starts_(std::move(starts)), ends_are_new_(ends_are_new) {}

  /// Where a tick, of either clock, is on the one axis.
  std::uint64_t place(std::uint64_t ticks) const noexcept;

  void repair(core::Record& record) const noexcept;
  void repair(core::OpenOpCopy& op) const noexcept;
  void repair(core::OpenOp& op) const noexcept;

 private:
  bool is_doubtful_start(std::uint64_t op_id, std::uint64_t ticks) const noexcept;
  std::uint64_t estimate() const noexcept;

  core::ClockSwitch point_;
  std::optional<Starts> starts_;
  bool ends_are_new_;
};

}  // namespace torchtrace::flush
