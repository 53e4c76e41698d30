#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

#include "core/counter_watch.h"
#include "core/layout.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace torchtrace::core {

inline std::uint64_t clock_ns(clockid_t id) noexcept {
  timespec now{};
  clock_gettime(id, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

/// Whether `read_ticks` reads the CPU's counter; else ticks are CLOCK_MONOTONIC nanoseconds. Chosen
/// before the first operator is recorded, by `use_counter`.
extern std::atomic<bool> g_ticks_are_counter;
void use_counter(bool yes) noexcept;

/// In ticks that are CLOCK_MONOTONIC nanoseconds though the process began with the counter, so that
/// each time stamp says of itself which clock it is of. The counter takes a century to get there.
inline constexpr std::uint64_t kFallbackTick = std::uint64_t{1} << 63U;

/// `kFallbackTick` once `give_up_counter` has been called, else 0.
extern std::atomic<std::uint64_t> g_tick_mark;

/// The counter has turned bad: from now on ticks are CLOCK_MONOTONIC with `kFallbackTick`. An op
/// thread that is about to read the counter may still do so. For good, in forked children too.
void give_up_counter() noexcept;

/// The CPU's counter. No fence and no rdtscp: a plain read may move by some tens of ns against the
/// operator's own instructions, which costs less than the 9 ns that a fence would add to each.
inline std::uint64_t read_counter() noexcept {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return clock_ns(CLOCK_MONOTONIC);
#endif
}

/// The time stamp of the op path. Thread: any; hot. Units: ticks.
inline std::uint64_t read_ticks() noexcept {
  if (__builtin_expect(g_ticks_are_counter.load(std::memory_order_relaxed), 1))
    return read_counter();
  std::atomic_thread_fence(std::memory_order_acquire);
  return clock_ns(CLOCK_MONOTONIC) | g_tick_mark.load(std::memory_order_relaxed);
}

/// True if the kernel itself trusts the counter: invariant, and its watchdog has accepted it as the
/// clock source, cross-socket synchronisation included. Always true on aarch64, where the
/// architecture guarantees it. Reads one file below /sys.
bool counter_is_trusted() noexcept;

/// True if the kernel says that it has another clock source by now than the counter. False where it
/// says nothing: the program may have another root, or no descriptor left.
bool kernel_gave_counter_up() noexcept;

/// Reads the counter and CLOCK_MONOTONIC_RAW at one moment: the tightest of a few bracketed reads,
/// so that a preempted one does not show.
CounterSample sample_counter() noexcept;

/// Reads ticks and the three clocks at one moment: the tightest of 64 bracketed reads per clock.
ClockAnchor take_anchor() noexcept;

/// Converts ticks to CLOCK_MONOTONIC ns by a function that is continuous, never decreases, and
/// never changes for a tick that has been converted: each anchor only bends what comes after it, so
/// that a parent's and a child's times stay in order even if they are converted seconds apart. The
/// distance found at an anchor is worked off by the slope until the next one.
///
/// Thread: one (the flush thread).
class TickConverter {
 public:
  /// `first` is where the function begins; ticks are ns until `add` has given a slope if they are
  /// not counter ticks, else the two anchors taken by the caller must be `min_distance_ns()` apart.
  void start(const ClockAnchor& first, const ClockAnchor& second) noexcept;

  /// Bends the function at `anchor.ticks`; nothing converted so far may be later than that.
  void add(const ClockAnchor& anchor) noexcept;

  std::uint64_t to_ns(std::uint64_t ticks) const noexcept;

  /// Inverse for durations: ns to ticks at the present slope.
  std::uint64_t ticks_of(std::uint64_t duration_ns) const noexcept;

  double hz() const noexcept { return 1e9 / true_slope_; }

  /// Largest distance between the function and an anchor so far.
  std::uint64_t worst_error_ns() const noexcept { return worst_error_ns_; }

 private:
  struct Segment {
    std::uint64_t ticks;
    std::uint64_t ns;
    double slope;  ///< ns per tick
  };
  static constexpr std::size_t kSegments = 64;

  const Segment& segment_of(std::uint64_t ticks) const noexcept;

  Segment segments_[kSegments] = {};
  std::size_t count_ = 0;  ///< Segments so far; the newest is [(count - 1) % kSegments].
  ClockAnchor last_ = {};
  double true_slope_ = 1.0;
  std::uint64_t worst_error_ns_ = 0;
};

}  // namespace torchtrace::core
