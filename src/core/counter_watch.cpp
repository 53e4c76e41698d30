#include "core/counter_watch.h"

namespace torchtrace::core {

namespace {

/// Reading two clocks one after the other: tens of ns, hundreds where a hypervisor is in between.
constexpr double kTolerance_ns = 1'000;
/// A counter that the kernel trusts is within some ppm of the rate learned.
constexpr double kTolerancePerNs = 100e-6;
constexpr std::uint64_t kBetweenReferences_ns = 8'000'000;
constexpr std::uint64_t kLearning_ns = 1'000'000'000;
constexpr unsigned kStrikes = 2;

double difference(std::uint64_t later, std::uint64_t earlier) noexcept {
  return static_cast<double>(static_cast<std::int64_t>(later - earlier));
}

}  // namespace

void CounterWatch::start(const CounterSample& first, const CounterSample& second) noexcept {
  first_ = first;
  good_ = newer_ = older_ = second;
  const double ticks = difference(second.ticks, first.ticks);
  const double ns = difference(second.raw_ns, first.raw_ns);
  ticks_per_ns_ = ticks > 0 && ns > 0 ? ticks / ns : 1.0;
  strikes_ = 0;
}

bool CounterWatch::agrees(const CounterSample& before, const CounterSample& now) const noexcept {
  const double elapsed_ns = difference(now.raw_ns, before.raw_ns);
  const double counted_ns = difference(now.ticks, before.ticks) / ticks_per_ns_;
  const double distance_ns = counted_ns - elapsed_ns;
  const double tolerated_ns = kTolerance_ns + kTolerancePerNs * (elapsed_ns > 0 ? elapsed_ns : 0);
  return distance_ns <= tolerated_ns && -distance_ns <= tolerated_ns;
}

CounterWatch::Verdict CounterWatch::look(const CounterSample& now) noexcept {
  if (strikes_ >= kStrikes) return Verdict::kBad;
  if (!agrees(good_, now) || !agrees(newer_, now) || !agrees(older_, now)) {
    return ++strikes_ == kStrikes ? Verdict::kBad : Verdict::kSuspect;
  }
  strikes_ = 0;
  good_ = now;
  if (now.raw_ns - newer_.raw_ns >= kBetweenReferences_ns) {
    older_ = newer_;
    newer_ = now;
  }
  learn(now);
  return Verdict::kGood;
}

void CounterWatch::learn(const CounterSample& now) noexcept {
  const double ns = difference(now.raw_ns, first_.raw_ns);
  if (ns <= 0 || difference(newer_.raw_ns, first_.raw_ns) >= static_cast<double>(kLearning_ns)) {
    return;
  }
  ticks_per_ns_ = difference(now.ticks, first_.ticks) / ns;
}

}  // namespace torchtrace::core
