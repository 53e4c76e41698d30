#pragma once

#include <cstdint>
#include <optional>

#include "core/clock.h"
#include "core/counter_watch.h"
#include "flush/tick_repair.h"

namespace torchtrace::flush {

/// The trace's time: ticks on one axis, converted to CLOCK_MONOTONIC ns by anchors. Watches the
/// counter, and gives it up for CLOCK_MONOTONIC where it turns bad while the process runs.
/// Thread: one (the flush thread).
class TraceClock {
 public:
  /// `header`: where anchors and the switch are noted for a reader after the process's death.
  /// `ends_are_new`: see TickRepair.
  TraceClock(core::ProcessHeader& header, bool ends_are_new)
      : header_(header), ends_are_new_(ends_are_new) {}

  /// The first anchor.
  void begin() noexcept;

  /// The function from ticks to ns begins with the first two anchors and is bent by each later one.
  void calibrate() noexcept;

  /// After `begin`.
  std::uint64_t anchors_taken() const noexcept { return anchors_taken_; }

  /// Looks at the counter, before rings are read; `starts` is of just before. True at the switch:
  /// from then on what is read of op threads has to go through `repair`.
  bool has_turned_bad(TickRepair::Starts starts);

  /// nullptr until the counter has been given up.
  const TickRepair* repair() const noexcept { return repair_ ? &*repair_ : nullptr; }

  std::uint64_t now_ticks() const noexcept;

  /// A duration in ticks as op threads read them.
  std::uint64_t read_ticks_of(std::uint64_t duration_ns) const noexcept;

  const core::TickConverter& converter() const noexcept { return converter_; }
  const core::ClockAnchor& anchor() const noexcept { return anchor_; }

 private:
  bool is_bad(std::uint64_t now_ns) noexcept;
  void give_up(std::uint64_t now_ns);

  core::ProcessHeader& header_;
  bool ends_are_new_;
  core::TickConverter converter_;
  core::ClockAnchor anchor_{};
  std::uint64_t anchors_taken_ = 0;
  core::CounterWatch watch_;
  core::CounterSample first_sample_{};
  std::uint64_t next_question_ns_ = 0;
  TickRepair::Starts starts_;  ///< As of the last good look.
  std::optional<TickRepair> repair_;
};

}  // namespace torchtrace::flush
