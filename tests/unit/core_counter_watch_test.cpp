#include <gtest/gtest.h>

#include <random>

#include "core/counter_watch.h"

namespace torchtrace::core {
namespace {

using Verdict = CounterWatch::Verdict;

constexpr double kTicksPerNs = 2.6;
constexpr std::uint64_t kPeriod_ns = 10'000'000;

/// A counter beside CLOCK_MONOTONIC_RAW, and a watch that has been started 50 ms ago.
class counter_watch : public testing::Test {
 protected:
  counter_watch() {
    const CounterSample first = sample();
    elapse(50'000'000);
    watch_.start(first, sample());
  }

  void elapse(std::uint64_t ns, double rate = kTicksPerNs) {
    raw_ns_ += ns;
    ticks_ += static_cast<double>(ns) * rate;
  }
  CounterSample sample(double error_ns = 0) const {
    return {static_cast<std::uint64_t>(ticks_ + error_ns * kTicksPerNs), raw_ns_};
  }
  Verdict period(double rate = kTicksPerNs) {
    elapse(kPeriod_ns, rate);
    return watch_.look(sample());
  }
  void run_well(int periods) {
    for (int at = 0; at < periods; ++at) ASSERT_EQ(period(), Verdict::kGood);
  }
  /// Within two periods, each of which looks again where it is not sure.
  bool trips(double rate = kTicksPerNs) {
    for (int at = 0; at < 2; ++at) {
      if (period(rate) == Verdict::kGood) continue;
      elapse(300, rate);
      if (watch_.look(sample()) == Verdict::kBad) return true;
    }
    return false;
  }

  double ticks_ = 7e12;
  std::uint64_t raw_ns_ = 5'000'000'000;
  CounterWatch watch_;
};

TEST_F(counter_watch, a_good_counter_with_jitter_never_trips) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> jitter_ns(0, 60);
  for (int at = 0; at < 1'000'000; ++at) {
    // From a ring that is pressed to a program that was stopped for seconds.
    const std::uint64_t pause_ns =
        random() % 1000 == 0 ? 3'000'000'000 : 200'000 + random() % 20'000'000;
    elapse(pause_ns);
    ASSERT_EQ(watch_.look(sample(jitter_ns(random))), Verdict::kGood) << at;
  }
}

TEST_F(counter_watch, a_rate_that_was_measured_badly_at_first_never_trips) {
  CounterWatch watch;
  const CounterSample first = sample();
  elapse(2'000'000);
  watch.start(first, sample(100));  // 50 ppm
  for (int at = 0; at < 1000; ++at) {
    elapse(kPeriod_ns);
    ASSERT_EQ(watch.look(sample()), Verdict::kGood) << at;
  }
  EXPECT_NEAR(watch.ticks_per_ns(), kTicksPerNs, kTicksPerNs * 1e-6);
}

TEST_F(counter_watch, one_disturbed_read_is_forgiven) {
  run_well(200);
  elapse(kPeriod_ns);
  EXPECT_EQ(watch_.look(sample(40'000)), Verdict::kSuspect);
  EXPECT_EQ(watch_.look(sample()), Verdict::kGood);
  run_well(200);
  elapse(kPeriod_ns);
  EXPECT_EQ(watch_.look(sample(-40'000)), Verdict::kSuspect);
  EXPECT_EQ(watch_.look(sample()), Verdict::kGood);
}

TEST_F(counter_watch, a_step_trips_and_stays) {
  for (const double step_ns : {5e3, -5e3, 1e9, -1e9, 1e15}) {
    run_well(200);
    const CounterSample good = watch_.last_good();
    ticks_ += step_ns * kTicksPerNs;
    EXPECT_TRUE(trips()) << step_ns;
    EXPECT_EQ(watch_.last_good().ticks, good.ticks);
    EXPECT_EQ(period(), Verdict::kBad);
    const CounterSample first = sample();
    elapse(50'000'000);
    watch_.start(first, sample());
  }
}

TEST_F(counter_watch, another_rate_trips) {
  run_well(200);
  EXPECT_TRUE(trips(kTicksPerNs * (1 + 200e-6)));
}

TEST_F(counter_watch, a_lower_rate_trips) {
  run_well(200);
  EXPECT_TRUE(trips(kTicksPerNs * (1 - 200e-6)));
}

TEST_F(counter_watch, a_counter_that_stands_still_trips) {
  run_well(200);
  EXPECT_TRUE(trips(0));
}

TEST_F(counter_watch, a_counter_that_runs_backward_trips) {
  run_well(200);
  EXPECT_TRUE(trips(-kTicksPerNs));
}

TEST_F(counter_watch, steps_at_random_moments_trip) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 2000; ++round) {
    const CounterSample first = sample();
    elapse(50'000'000);
    watch_.start(first, sample());
    run_well(static_cast<int>(random() % 150));
    const double size_ns = 5'000 + static_cast<double>(random() % 1'000'000);
    ticks_ += (random() % 2 == 0 ? size_ns : -size_ns) * kTicksPerNs;
    ASSERT_TRUE(trips()) << round;
  }
}

}  // namespace
}  // namespace torchtrace::core
