#include "core/clock.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "core/caution.h"
#include "core/descriptor.h"

namespace torchtrace::core {

std::atomic<bool> g_ticks_are_counter{false};
std::atomic<std::uint32_t> g_caution{kLayoutNotVerified | kClockIsACall};

void use_counter(bool yes) noexcept {
  g_ticks_are_counter.store(yes, std::memory_order_relaxed);
  set_caution(kClockIsACall, !yes);
}

std::atomic<std::uint64_t> g_tick_mark{0};

void give_up_counter() noexcept {
  g_tick_mark.store(kFallbackTick, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // see read_ticks
  use_counter(false);
}

namespace {

#if defined(__x86_64__)
/// Source: AMD64 APM vol. 3, CPUID Fn8000_0007_EDX[8] (TscInvariant); Intel SDM vol. 3, 18.17.1.
bool counter_is_invariant() noexcept {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(0x80000007U, &eax, &ebx, &ecx, &edx) != 0 && (edx & (1U << 8U)) != 0;
}

enum class ClockSource : std::uint8_t { kUnknown, kCounter, kOther };

ClockSource kernel_clock_source() noexcept {
  const int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                      O_RDONLY | O_CLOEXEC);
  if (fd < 0) return ClockSource::kUnknown;
  char text[16] = {};
  const ssize_t length = read(fd, text, sizeof(text) - 1);
  close(fd);
  if (length <= 0) return ClockSource::kUnknown;
  const bool is_counter = length >= 4 && std::memcmp(text, "tsc\n", 4) == 0;
  return is_counter ? ClockSource::kCounter : ClockSource::kOther;
}
#endif

/// Reads `id` between two tick reads, several times, and keeps the tightest pair.
std::uint64_t read_bracketed(clockid_t id, std::uint64_t& ticks) noexcept {
  std::uint64_t best_ns = 0;
  std::uint64_t best_bracket = UINT64_MAX;
  for (int attempt = 0; attempt < 64; ++attempt) {
    const std::uint64_t before = read_ticks();
    const std::uint64_t ns = clock_ns(id);
    const std::uint64_t bracket = read_ticks() - before;
    if (bracket >= best_bracket) continue;
    best_bracket = bracket;
    best_ns = ns;
    ticks = before + bracket / 2;
  }
  return best_ns;
}

}  // namespace

bool counter_is_trusted() noexcept {
#if defined(__x86_64__)
  return counter_is_invariant() && kernel_clock_source() == ClockSource::kCounter;
#elif defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

bool kernel_gave_counter_up() noexcept {
#if defined(__x86_64__)
  return has_standard_streams() && kernel_clock_source() == ClockSource::kOther;
#else
  return false;
#endif
}

CounterSample sample_counter() noexcept {
  constexpr int kAttempts = 8;
  CounterSample best{};
  std::uint64_t best_bracket = UINT64_MAX;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::uint64_t before = read_counter();
    const std::uint64_t raw_ns = clock_ns(CLOCK_MONOTONIC_RAW);
    const std::uint64_t bracket = read_counter() - before;
    if (bracket >= best_bracket) continue;
    best_bracket = bracket;
    best = {before + bracket / 2, raw_ns};
  }
  return best;
}

ClockAnchor take_anchor() noexcept {
  ClockAnchor anchor{};
  std::uint64_t ticks = 0;
  anchor.monotonic_raw_ns = read_bracketed(CLOCK_MONOTONIC_RAW, ticks);
  const std::uint64_t raw_ticks = ticks;
  anchor.realtime_ns = read_bracketed(CLOCK_REALTIME, ticks);
  const std::uint64_t realtime_ticks = ticks;
  anchor.monotonic_ns = read_bracketed(CLOCK_MONOTONIC, anchor.ticks);
  // Move the first two to the moment of the third: some 10 us at CLOCK_MONOTONIC's own rate.
  if (!g_ticks_are_counter.load(std::memory_order_relaxed)) {
    anchor.monotonic_raw_ns += anchor.ticks - raw_ticks;
    anchor.realtime_ns += anchor.ticks - realtime_ticks;
  } else {
    std::uint64_t again_ticks = 0;
    const std::uint64_t again_ns = read_bracketed(CLOCK_MONOTONIC, again_ticks);
    const double slope = again_ticks > anchor.ticks
                             ? static_cast<double>(again_ns - anchor.monotonic_ns) /
                                   static_cast<double>(again_ticks - anchor.ticks)
                             : 0.0;
    const auto moved = [&](std::uint64_t from) {
      return static_cast<std::uint64_t>(static_cast<double>(anchor.ticks - from) * slope);
    };
    anchor.monotonic_raw_ns += moved(raw_ticks);
    anchor.realtime_ns += moved(realtime_ticks);
  }
  return anchor;
}

void TickConverter::start(const ClockAnchor& first, const ClockAnchor& second) noexcept {
  const auto ticks = static_cast<double>(second.ticks - first.ticks);
  const auto ns = static_cast<double>(second.monotonic_ns - first.monotonic_ns);
  true_slope_ = ticks > 0 && ns > 0 ? ns / ticks : 1.0;
  segments_[0] = {first.ticks, first.monotonic_ns, true_slope_};
  count_ = 1;
  last_ = second;
}

void TickConverter::add(const ClockAnchor& anchor) noexcept {
  if (anchor.ticks <= last_.ticks) return;
  const std::uint64_t here = to_ns(anchor.ticks);
  const auto error = static_cast<double>(static_cast<std::int64_t>(anchor.monotonic_ns - here));
  worst_error_ns_ =
      std::max(worst_error_ns_, static_cast<std::uint64_t>(error < 0 ? -error : error));
  const auto ticks = static_cast<double>(anchor.ticks - last_.ticks);
  true_slope_ = static_cast<double>(anchor.monotonic_ns - last_.monotonic_ns) / ticks;
  // Work the error off within one more interval; never turn the function round, whatever was seen.
  const double slope = std::max(true_slope_ + error / ticks, true_slope_ / 2);
  segments_[count_ % kSegments] = {anchor.ticks, here, slope};
  ++count_;
  last_ = anchor;
}

const TickConverter::Segment& TickConverter::segment_of(std::uint64_t ticks) const noexcept {
  const std::size_t oldest = count_ > kSegments ? count_ - kSegments : 0;
  std::size_t index = count_ - 1;
  while (index > oldest && segments_[index % kSegments].ticks > ticks) --index;
  return segments_[index % kSegments];
}

std::uint64_t TickConverter::to_ns(std::uint64_t ticks) const noexcept {
  const Segment& segment = segment_of(ticks);
  // The distance is signed: a tick may lie before the oldest segment that is kept.
  const auto distance = static_cast<double>(static_cast<std::int64_t>(ticks - segment.ticks));
  // No llround: it would be the agent's only need of libm.
  // Within what can be converted back: recovery reads ticks and anchors from files.
  constexpr double kFarthest_ns = 9e18;
  const double ns = std::clamp(distance * segment.slope, -kFarthest_ns, kFarthest_ns);
  return segment.ns +
         static_cast<std::uint64_t>(static_cast<std::int64_t>(ns < 0 ? ns - 0.5 : ns + 0.5));
}

std::uint64_t TickConverter::ticks_of(std::uint64_t duration_ns) const noexcept {
  return static_cast<std::uint64_t>(static_cast<double>(duration_ns) / true_slope_);
}

}  // namespace torchtrace::core
