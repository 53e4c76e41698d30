#include <time.h>

#include <algorithm>
#include <string>

#include "core/clock.h"
#include "core/log.h"
#include "flush/flush_thread.h"

/// The flush thread's part in `output.sink = "snapshot"`: the rings hold the last seconds, and are
/// read only for a dump, which becomes a trace of its own. An operator is in one dump at most.
namespace torchtrace::flush {

namespace {

constexpr std::uint64_t kSecond_ns = 1'000'000'000;
/// At most one dump in this time: a program whose every step is slow goes on working.
constexpr std::uint64_t kBetweenDumps_ns = kSecond_ns;
/// The converter keeps 64 segments, which have to reach back over all that a ring holds.
constexpr std::uint64_t kAnchorsPerSnapshot = 32;
/// Tries for a moment at which no thread is between two stores; each is a millisecond apart.
constexpr int kSettleTries = 20;
constexpr timespec kSettlePause{0, 1'000'000};

}  // namespace

bool FlushThread::is_flight_recorder() const noexcept {
  return options_.sink.kind == config::SinkKind::kSnapshot;
}

/// True once ticks can be converted.
bool FlushThread::calibrate_recorder(std::uint64_t now_ns) {
  if (now_ns < next_second_ns_) return clock_.anchors_taken() != 0;
  // The two first ones need some distance.
  const bool is_first = next_second_ns_ == 0;
  next_second_ns_ = is_first
                        ? now_ns + kSecond_ns / 20
                        : now_ns + std::max(kSecond_ns, options_.snapshot_ns / kAnchorsPerSnapshot);
  if (is_first) return false;
  clock_.calibrate();
  if (options_.slow_step_ns != 0) {
    core::g_slow_step_ticks.store(clock_.read_ticks_of(options_.slow_step_ns));
  }
  return true;
}

void FlushThread::tend_recorder(bool is_last) {
  core::Consumer& consumer = process_.consumer;
  if (consumer.take(core::kWakeSlowStep)) dump_reason_ = "a step was slow";
  if (consumer.take(core::kWakeToDump)) dump_reason_ = "on request";
  const std::uint64_t now_ns = core::clock_ns(CLOCK_MONOTONIC);
  watch_clock();
  const bool has_clock = calibrate_recorder(now_ns);
  if (dump_reason_ != nullptr && (has_clock || is_last) && (now_ns >= next_dump_ns_ || is_last)) {
    next_dump_ns_ = now_ns + kBetweenDumps_ns;
    dump(std::exchange(dump_reason_, nullptr));
  }
  if (has_clock && !is_last) {
    collector_.release_ended(clock_.now_ticks() -
                             clock_.converter().ticks_of(options_.snapshot_ns));
  }
}

/// What is in the rings goes to the sequencer. True if it adds up with what was counted.
bool FlushThread::collect_for_dump() {
  for (int attempt = 0; attempt < kSettleTries; ++attempt) {
    if (attempt != 0) nanosleep(&kSettlePause, nullptr);
    sequencer_.hold();
    collector_.collect_instants(sequencer_);
    const Totals& totals = collector_.totals_as_collected();
    Totals since = totals;
    since.subtract(dumped_);
    const std::uint64_t not_held = since.filtered + since.dropped() + since.open;
    if (since.started == sequencer_.pending() + not_held) return true;
  }
  return false;
}

/// A receipt counts from the dump before: those open then count as started anew.
void FlushThread::dump(const char* why) {
  if (clock_.anchors_taken() == 0) nanosleep(&kSettlePause, nullptr);
  clock_.calibrate();
  if (!choice_.begin_dump()) return;
  write_state();
  const bool adds_up = collect_for_dump();
  const std::uint64_t now_ticks = clock_.now_ticks();
  advance(now_ticks, now_ticks);
  collector_.forget_ended();
  Totals since = collector_.totals_as_collected();
  since.subtract(dumped_);
  torchtrace_receipt receipt = receipt_of(since);
  receipt.final = adds_up && receipt.settling == 0 ? 1 : 0;
  receipt.late -= std::exchange(dumped_late_, receipt.late);
  receipt.inherited -= std::exchange(dumped_inherited_, receipt.inherited);
  names_overflowed_ = 0;
  clock_stepped_ = 0;
  choice_.sink()->receipt(receipt);
  choice_.end_dump();
  dumped_ = collector_.totals_as_collected();
  dumped_.started -= dumped_.open;
  core::say(("dumped " + std::to_string(receipt.written) + " operators (" + why + ") to " +
             choice_.trace_directory() + "/" + choice_.trace_name())
                .c_str());
}

}  // namespace torchtrace::flush
