#pragma once

#include <cstdint>

namespace torchtrace::core {

/// The CPU's counter and CLOCK_MONOTONIC_RAW at one moment.
struct CounterSample {
  std::uint64_t ticks;
  std::uint64_t raw_ns;
};

/// Finds out that the CPU's counter has stopped being a clock: a virtual machine that was moved, a
/// suspend, a counter that is set or that changes its rate. Compares its advance with that of
/// CLOCK_MONOTONIC_RAW, which nobody slews. Where the kernel makes that clock of the same counter,
/// both step together and nothing is found; then the kernel's time is as wrong as ours.
///
/// Pure: no I/O, no clock of its own. Thread: one (the flush thread).
class CounterWatch {
 public:
  enum class Verdict : std::uint8_t {
    kGood,
    kSuspect,  ///< Look again at once: the read itself may have been disturbed.
    kBad       ///< Seen twice in a row. For good.
  };

  /// The rate is that between the two, refined by good looks within the first second.
  void start(const CounterSample& first, const CounterSample& second) noexcept;

  Verdict look(const CounterSample& now) noexcept;

  /// The last sample whose verdict was good.
  const CounterSample& last_good() const noexcept { return good_; }

  double ticks_per_ns() const noexcept { return ticks_per_ns_; }

 private:
  bool agrees(const CounterSample& before, const CounterSample& now) const noexcept;
  void learn(const CounterSample& now) noexcept;

  CounterSample first_{};
  CounterSample good_{};
  /// Looks to compare with, some ms apart: a rate that has changed shows only over some time.
  CounterSample newer_{};
  CounterSample older_{};
  double ticks_per_ns_ = 1.0;
  unsigned strikes_ = 0;
};

}  // namespace torchtrace::core
