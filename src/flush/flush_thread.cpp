#include "flush/flush_thread.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <vector>

#include "core/clock.h"
#include "core/futex.h"
#include "core/leftovers.h"
#include "core/log.h"
#include "core/process_stat.h"
#include "flush/post_mortem_notes.h"

namespace torchtrace::flush {

namespace {

constexpr char kThreadName[] = "torchtrace-sink";  // 15 characters, all that Linux keeps
constexpr std::uint64_t kSecond_ns = 1'000'000'000;
/// While a ring fills faster than half per period.
constexpr std::uint64_t kPressedPeriod_ns = 1'000'000;
/// The first anchors come soon, so that a short program's clock is as good as a long one's.
constexpr std::uint64_t kFirstAnchors_ns[] = {50'000'000, 200'000'000, 500'000'000};
/// Between the first two anchors of a program that ends at once: 20 ppm of its clock.
constexpr std::uint64_t kShortestCalibration_ns = 2'000'000;
/// Tries for a moment at which no thread is between two stores; each is a millisecond apart.
constexpr int kSettleTries = 20;

std::atomic<bool> g_pause_said{false};

void sleep_ns(std::uint64_t ns) noexcept {
  const timespec time{static_cast<time_t>(ns / kSecond_ns), static_cast<long>(ns % kSecond_ns)};
  nanosleep(&time, nullptr);
}

bool is_written(const SequencedOp& op) noexcept {
  return op.kind != OpKind::kBegin && op.outcome == TORCHTRACE_OUTCOME_ENDED;
}

}  // namespace

FlushThread::FlushThread(core::Process& process, Options options)
    : process_(process),
      options_(std::move(options)),
      collector_(process),
      clock_(process.mapping.header(), options_.sink.kind != config::SinkKind::kSnapshot),
      choice_(options_.sink),
      writer_(options_.info, process.names.arena(), collector_.threads(),
              {options_.hold_ns, options_.period_ns}) {}

bool FlushThread::start() noexcept {
  // The host may expect one thread of its own to take a signal.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  const int error = pthread_create(&thread, nullptr, run, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) return false;
  pthread_setname_np(thread, kThreadName);
  pthread_detach(thread);
  return true;
}

bool FlushThread::finish(std::uint64_t deadline_ns) noexcept try {
  if (is_this_thread()) {  // see end_with_program
    last_periods();
    return true;
  }
  process_.consumer.wake(core::kWakeToFinish);
  const std::uint64_t end_ns = core::clock_ns(CLOCK_MONOTONIC) + deadline_ns;
  while (has_finished_.load(std::memory_order_acquire) == 0) {
    const std::uint64_t now_ns = core::clock_ns(CLOCK_MONOTONIC);
    if (now_ns >= end_ns) return false;
    core::futex_wait(has_finished_, 0, end_ns - now_ns);
  }
  return true;
} catch (const std::exception&) {
  return false;
}

bool FlushThread::is_this_thread() const noexcept {
  return tid_.load(std::memory_order_relaxed) == static_cast<pid_t>(syscall(SYS_gettid));
}

void* FlushThread::run(void* self) noexcept {
  auto& thread = *static_cast<FlushThread*>(self);
  core::Consumer& consumer = thread.process_.consumer;
  const auto tid = static_cast<pid_t>(syscall(SYS_gettid));
  thread.tid_.store(tid, std::memory_order_relaxed);
  consumer.set_thread(static_cast<std::uint32_t>(tid));
  try {
    thread.loop();
  } catch (const std::exception& error) {
    // Out of memory, most likely: tracing ends here, the program goes on.
    core::g_stopped.store(true);
    core::say("tracing is off: the flush thread failed");
    core::say(error.what());
  }
  consumer.set_thread(0);
  consumer.has_drained();  // nobody waits for it any more
  thread.has_finished_.store(1, std::memory_order_release);
  core::futex_wake_all(thread.has_finished_);
  return nullptr;
}

void FlushThread::loop() {
  prepare();
  core::Consumer& consumer = process_.consumer;
  while (!consumer.take(core::kWakeToFinish)) {
    consumer.take(core::kWakeToDrain);
    if (is_flight_recorder()) {
      tend_recorder(false);
    } else {
      period();
    }
    if (options_.info.describe_layout != nullptr) {
      note_layout(process_.mapping.header(), options_.info.describe_layout());
    }
    process_.threads.keep_spare(options_.spare_buffers);
    tell_source();
    end_with_program();
    consumer.sleep(collector_.is_pressed() ? std::min(kPressedPeriod_ns, options_.period_ns)
                                           : options_.period_ns);
  }
  if (is_flight_recorder()) return tend_recorder(true);
  last_periods();
}

void FlushThread::prepare() {
  clock_.begin();
  note_facts(process_.mapping.header(), options_.info, {options_.hold_ns, options_.period_ns},
             options_.sink.directory);
  pthread_mutex_lock(&loader_mutex_);
  choice_.load_provider();
  pthread_mutex_unlock(&loader_mutex_);
  core::trim_leftovers(core::kSharedMemoryRoot);
  // Ends of steps are noted from now on; how many ticks are too many is known later.
  if (is_flight_recorder() && options_.slow_step_ns != 0) core::g_slow_step_ticks.store(UINT64_MAX);
}

/// Before rings are read: what is in them then may be of a counter that has turned bad.
void FlushThread::watch_clock() {
  if (!clock_.has_turned_bad(collector_.starts())) return;
  collector_.set_repair(clock_.repair());
  if (core::g_slow_step_ticks.load(std::memory_order_relaxed) != 0) {
    core::g_slow_step_ticks.store(clock_.read_ticks_of(options_.slow_step_ns));
  }
}

void FlushThread::period() {
  const std::uint64_t now_ns = core::clock_ns(CLOCK_MONOTONIC);
  const std::uint64_t age_ns = now_ns - started_ns_;
  watch_clock();
  const std::uint64_t now_ticks = clock_.now_ticks();
  collector_.collect(sequencer_);
  const bool is_early = clock_.anchors_taken() < std::size(kFirstAnchors_ns);
  if (is_early && age_ns >= kFirstAnchors_ns[clock_.anchors_taken()]) clock_.calibrate();
  if (clock_.anchors_taken() == 0) return sequencer_.hold();
  const bool is_new_sink = choice_.update(sequencer_.pending(), false);
  if (choice_.sink() == nullptr) return sequencer_.hold();
  if (is_new_sink) {
    note_trace(process_.mapping.header(), choice_.trace_directory(), choice_.trace_name());
  }
  if (choice_.sink()->wants_state() || is_new_sink) write_state();
  const std::uint64_t watermark_ticks = now_ticks - clock_.converter().ticks_of(options_.hold_ns);
  advance(watermark_ticks, now_ticks);
  // A new trace's first receipt comes at once: the program may be killed within the second.
  if (is_new_sink) write_receipt(false);
  if (is_new_sink) next_second_ns_ = now_ns + kSecond_ns;
  if (now_ns >= next_second_ns_) {
    next_second_ns_ = now_ns + kSecond_ns;
    every_second();
  }
  choice_.sink()->end_of_period(now_ns);
  note_progress(process_.mapping.header(),
                {now_ticks, watermark_ticks, choice_.counts(), sequencer_.late(),
                 core::g_inherited_ends.load(std::memory_order_relaxed), names_overflowed_,
                 clock_.converter().worst_error_ns(), clock_stepped_});
}

void FlushThread::advance(std::uint64_t watermark_ticks, std::uint64_t now_ticks) {
  Sink& sink = *choice_.sink();
  for (const std::uint32_t slot : collector_.take_new_threads()) {
    writer_.thread(sink, watermark_ns_, slot);
  }
  sequencer_.advance(watermark_ticks, now_ticks, clock_.converter(), [&](const SequencedOp& op) {
    if (op.record.name_id == core::NameTable::kOverflowId && op.kind != OpKind::kEnd) {
      ++names_overflowed_;
    }
    if (is_written(op) && (op.record.flags & core::kFlagClockStepped) != 0) ++clock_stepped_;
    writer_.op(sink, op);
  });
  watermark_ns_ = std::max(watermark_ns_, clock_.converter().to_ns(watermark_ticks));
  for (const Loss& loss : collector_.take_losses()) writer_.loss(sink, watermark_ns_, loss);
}

void FlushThread::every_second() {
  if (clock_.anchors_taken() >= std::size(kFirstAnchors_ns)) clock_.calibrate();
  Sink& sink = *choice_.sink();
  writer_.process(sink, watermark_ns_, clock_.anchor(), clock_.converter());
  for (const std::uint32_t slot : collector_.take_active_threads()) {
    writer_.thread(sink, watermark_ns_, slot);
  }
  write_receipt(false);
}

/// What a reader needs of the past to understand a file or session that begins now.
void FlushThread::write_state() {
  Sink& sink = *choice_.sink();
  writer_.process(sink, watermark_ns_, clock_.anchor(), clock_.converter());
  // New ones are present too, unless they have ended while their operators were held back.
  std::vector<std::uint32_t> slots = collector_.present_threads();
  for (const std::uint32_t slot : collector_.take_new_threads()) {
    if (std::find(slots.begin(), slots.end(), slot) == slots.end()) slots.push_back(slot);
  }
  for (const std::uint32_t slot : slots) writer_.thread(sink, watermark_ns_, slot);
  sequencer_.repeat_open([&](const SequencedOp& op) { writer_.op(sink, op); });
}

torchtrace_receipt FlushThread::receipt_of(const Totals& totals) const {
  const Sink::Counts counts = choice_.counts();
  torchtrace_receipt receipt{};
  receipt.ts = watermark_ns_;
  receipt.pid = options_.info.pid;
  put_totals(totals, receipt);
  receipt.recorded =
      counts.written + counts.lost_disk_full + counts.lost_rotated_out + counts.lost_elsewhere;
  // What is in a ring, held back, or between two stores of its thread.
  receipt.settling = static_cast<std::int64_t>(totals.started) -
                     static_cast<std::int64_t>(receipt.recorded + totals.filtered +
                                               totals.dropped() + totals.open);
  receipt.inherited = core::g_inherited_ends.load(std::memory_order_relaxed);
  receipt.late = sequencer_.late();
  receipt.written = counts.written;
  receipt.lost_disk_full = counts.lost_disk_full;
  receipt.lost_rotated_out = counts.lost_rotated_out;
  receipt.lost_elsewhere = counts.lost_elsewhere;
  receipt.names_overflowed = names_overflowed_;
  receipt.clock_stepped = clock_stepped_;
  receipt.clock_error_ns = clock_.converter().worst_error_ns();
  return receipt;
}

void FlushThread::write_receipt(bool is_final) {
  torchtrace_receipt receipt = receipt_of(collector_.totals());
  receipt.final = is_final ? 1 : 0;
  choice_.sink()->receipt(receipt);
}

/// The program is leaving: nothing more is held back. Threads that still run may be between two
/// stores, so this goes on for some milliseconds until the sums agree.
void FlushThread::last_periods() {
  if (clock_.anchors_taken() == 0) sleep_ns(kShortestCalibration_ns);
  while (choice_.is_worth_waiting()) sleep_ns(kPressedPeriod_ns);
  if (clock_.anchors_taken() < std::size(kFirstAnchors_ns)) clock_.calibrate();
  for (int attempt = 0;; ++attempt) {
    watch_clock();
    const std::uint64_t now_ticks = clock_.now_ticks();
    collector_.collect(sequencer_);
    if (choice_.update(sequencer_.pending(), true)) write_state();
    if (choice_.sink() == nullptr) return;
    advance(now_ticks, now_ticks);
    const Totals totals = collector_.totals();
    const Sink::Counts counts = choice_.counts();
    const std::uint64_t accounted = counts.written + counts.lost_disk_full +
                                    counts.lost_rotated_out + counts.lost_elsewhere +
                                    totals.filtered + totals.dropped() + totals.open;
    if (accounted == totals.started || attempt == kSettleTries) break;
    sleep_ns(kPressedPeriod_ns);
  }
  write_receipt(true);
  choice_.sink()->close();
}

/// After the sink has looked for sessions, so that what runs from now on has somewhere to go.
void FlushThread::tell_source() noexcept {
  const OperatorSource& source = options_.source;
  if (choice_.wants_operators()) {
    if (source.keep_reporting != nullptr) source.keep_reporting();
  } else if (source.pause != nullptr && source.pause()) {
    core::say_once(g_pause_said, "no LTTng session records: paused until one does");
  }
}

/// A program whose main thread ends by pthread_exit goes on until its last thread ends; then libc
/// ends the process with status 0. This thread would be the last one and keep it for ever, so it
/// does what libc would have done. Source: pthread_exit(3); glibc nptl/pthread_create.c.
void FlushThread::end_with_program() {
  const std::uint64_t now_ns = core::clock_ns(CLOCK_MONOTONIC);
  if (now_ns < next_look_ns_) return;
  next_look_ns_ = now_ns + kSecond_ns;
  if (core::only_helpers_are_left()) std::exit(0);
}

}  // namespace torchtrace::flush
