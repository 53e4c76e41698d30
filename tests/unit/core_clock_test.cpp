#include <gtest/gtest.h>

#include <random>

#include "core/clock.h"

namespace torchtrace::core {
namespace {

ClockAnchor anchor(std::uint64_t ticks, std::uint64_t monotonic_ns) {
  return {ticks, monotonic_ns, monotonic_ns, monotonic_ns};
}

TEST(tick_converter, is_exact_for_a_steady_clock) {
  TickConverter clock;
  clock.start(anchor(1000, 500), anchor(3000, 1500));  // 0.5 ns per tick
  EXPECT_EQ(clock.to_ns(1000), 500U);
  EXPECT_EQ(clock.to_ns(2000), 1000U);
  EXPECT_EQ(clock.to_ns(0), 0U);
  EXPECT_EQ(clock.ticks_of(100), 200U);
  EXPECT_DOUBLE_EQ(clock.hz(), 2e9);
  clock.add(anchor(5000, 2500));
  EXPECT_EQ(clock.worst_error_ns(), 0U);
}

TEST(tick_converter, never_decreases_and_never_changes_the_past) {
  std::mt19937_64 random(7);
  TickConverter clock;
  std::uint64_t ticks = 1'000'000;
  std::uint64_t ns = 2'000'000;
  const ClockAnchor first = anchor(ticks, ns);
  clock.start(first, anchor(ticks + 2'600'000, ns + 1'000'000));
  ticks += 2'600'000;
  ns += 1'000'000;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> converted;
  for (int second = 0; second < 50; ++second) {
    for (int sample = 0; sample < 50; ++sample) {
      const std::uint64_t at = ticks + static_cast<std::uint64_t>(sample) * 50'000'000;
      converted.emplace_back(at, clock.to_ns(at));
    }
    ticks += 2'600'000'000;
    // A clock that is slewed by up to 500 ppm, as NTP may.
    ns += 1'000'000'000 + random() % 1'000'000;
    clock.add(anchor(ticks, ns));
  }
  for (std::size_t at = 1; at < converted.size(); ++at) {
    ASSERT_GE(converted[at].second, converted[at - 1].second);
  }
  for (const auto& [at, before] : converted) ASSERT_EQ(clock.to_ns(at), before);
}

TEST(tick_converter, works_off_an_error_and_states_it) {
  TickConverter clock;
  clock.start(anchor(0, 0), anchor(1000, 1000));
  clock.add(anchor(1'000'000, 1'000'100));  // 100 ns ahead of the function
  EXPECT_EQ(clock.worst_error_ns(), 100U);
  EXPECT_EQ(clock.to_ns(1'000'000), 1'000'000U);
  const std::uint64_t later = clock.to_ns(2'000'000);
  EXPECT_NEAR(static_cast<double>(later), 2'000'200.0, 2.0);
}

TEST(tick_converter, ignores_an_anchor_from_the_past) {
  TickConverter clock;
  clock.start(anchor(0, 0), anchor(1000, 1000));
  clock.add(anchor(500, 99));
  EXPECT_EQ(clock.to_ns(800), 800U);
}

TEST(take_anchor, agrees_with_the_clocks_around_it) {
  for (const bool use_counter : {false, true}) {
    if (use_counter && !counter_is_trusted()) continue;
    torchtrace::core::use_counter(use_counter);
    const std::uint64_t before = clock_ns(CLOCK_MONOTONIC);
    const std::uint64_t realtime_before = clock_ns(CLOCK_REALTIME);
    const ClockAnchor taken = take_anchor();
    EXPECT_GE(taken.monotonic_ns, before);
    EXPECT_LE(taken.monotonic_ns, clock_ns(CLOCK_MONOTONIC));
    EXPECT_GE(taken.realtime_ns, realtime_before);
    EXPECT_LE(taken.realtime_ns, clock_ns(CLOCK_REALTIME));
  }
  use_counter(false);
}

}  // namespace
}  // namespace torchtrace::core
