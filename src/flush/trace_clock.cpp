#include "flush/trace_clock.h"

#include <utility>

#include "core/log.h"
#include "flush/post_mortem_notes.h"

namespace torchtrace::flush {

namespace {

/// Between questions for the kernel's clock source.
constexpr std::uint64_t kBetweenQuestions_ns = 1'000'000'000;

std::atomic<bool> g_switch_said{false};

}  // namespace

void TraceClock::begin() noexcept {
  first_sample_ = core::sample_counter();
  anchor_ = core::take_anchor();
  note_anchor(header_, anchor_);
}

void TraceClock::calibrate() noexcept {
  const core::ClockAnchor previous = anchor_;
  anchor_ = core::take_anchor();
  if (repair_) anchor_.ticks = repair_->place(anchor_.ticks);
  if (anchors_taken_++ == 0) {
    converter_.start(previous, anchor_);
    watch_.start(first_sample_, core::sample_counter());
  } else {
    converter_.add(anchor_);
  }
  note_anchor(header_, anchor_);
}

bool TraceClock::is_bad(std::uint64_t now_ns) noexcept {
  using Verdict = core::CounterWatch::Verdict;
  Verdict verdict = watch_.look(core::sample_counter());
  if (verdict == Verdict::kSuspect) verdict = watch_.look(core::sample_counter());
  if (verdict == Verdict::kBad) return true;
  if (now_ns < next_question_ns_) return false;
  next_question_ns_ = now_ns + kBetweenQuestions_ns;
  return core::kernel_gave_counter_up();
}

bool TraceClock::has_turned_bad(TickRepair::Starts starts) {
  if (anchors_taken_ == 0 || !core::g_ticks_are_counter.load(std::memory_order_relaxed)) {
    return false;
  }
  const std::uint64_t now_ns = core::clock_ns(CLOCK_MONOTONIC);
  if (is_bad(now_ns)) {
    give_up(now_ns);
    return true;
  }
  starts_ = std::move(starts);
  return false;
}

/// By CLOCK_MONOTONIC since the last good look, because that is what ticks are converted to.
void TraceClock::give_up(std::uint64_t now_ns) {
  const core::CounterSample& good = watch_.last_good();
  const double ticks_per_ns = watch_.ticks_per_ns();
  const std::uint64_t good_ns = converter_.to_ns(good.ticks);
  const double elapsed =
      now_ns > good_ns ? static_cast<double>(now_ns - good_ns) * ticks_per_ns : 0.0;
  const core::ClockSwitch point{good.ticks, good.ticks + static_cast<std::uint64_t>(elapsed),
                                now_ns, ticks_per_ns};
  repair_.emplace(point, std::move(starts_), ends_are_new_);
  header_.clock_switch = point;
  header_.clock_has_switched.store(1, std::memory_order_release);
  core::give_up_counter();
  calibrate();
  core::say_once(g_switch_said,
                 "the CPU's time-stamp counter is no longer a steady clock: using CLOCK_MONOTONIC "
                 "from now on");
}

std::uint64_t TraceClock::now_ticks() const noexcept {
  const std::uint64_t ticks = core::read_ticks();
  return repair_ ? repair_->place(ticks) : ticks;
}

std::uint64_t TraceClock::read_ticks_of(std::uint64_t duration_ns) const noexcept {
  return repair_ ? duration_ns : converter_.ticks_of(duration_ns);
}

}  // namespace torchtrace::flush
