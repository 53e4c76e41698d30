#include "core/full_ring.h"

#include "core/clock.h"
#include "core/errno_guard.h"
#include "core/process.h"

namespace torchtrace::core {

namespace {

/// Longer than the flush thread takes for a few hundred records, shorter than a futex call pays.
constexpr std::uint64_t kSpin_ns = 2'000;

void pause_briefly() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

bool find_room(ThreadHeader& header) noexcept { return header.ring.find_room(header.head); }

/// False in the flush thread itself, where there is none, and once the program is leaving.
bool is_served(const ThreadHeader& header, const Consumer& consumer) noexcept {
  return consumer.serves(header.tid) && !g_stopped.load(std::memory_order_relaxed);
}

bool spin_for_room(ThreadHeader& header) noexcept {
  const std::uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + kSpin_ns;
  do {
    if (find_room(header)) return true;
    pause_briefly();
  } while (clock_ns(CLOCK_MONOTONIC) < end_ns);
  return false;
}

bool sleep_for_room(ThreadHeader& header, Consumer& consumer) noexcept {
  const std::uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + kBlockLimit_ns;
  for (;;) {
    // Before the look, so that a drain in between is not slept through.
    const std::uint32_t round = consumer.round();
    if (find_room(header)) return true;
    const std::uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    if (now_ns >= end_ns || !is_served(header, consumer)) return false;
    consumer.wake(kWakeToDrain);
    consumer.wait_for_drain(round, end_ns - now_ns);
  }
}

bool wait_for_room(ThreadHeader& header) noexcept {
  if (find_room(header)) return true;
  const std::uint64_t head_mark = header.head.load(std::memory_order_relaxed) + 1;
  if (header.gave_up_at == head_mark) return false;
  header.gave_up_at = 0;
  Process* process = g_process.load(std::memory_order_relaxed);
  if (process == nullptr || !is_served(header, process->consumer)) return false;
  const ErrnoGuard keep_errno;
  if (spin_for_room(header) || sleep_for_room(header, process->consumer)) return true;
  header.gave_up_at = head_mark;
  return false;
}

}  // namespace

bool make_room(ThreadHeader& header) noexcept {
  switch (header.ring_policy) {
    case kRingOverwriteOldest:
      header.ring.take_oldest(header.ring_reserved, kOverwriteBatch);
      return true;
    case kRingBlock:
      return wait_for_room(header);
    default:
      return find_room(header);
  }
}

Counter& no_room_counter(ThreadHeader& header) noexcept {
  return header.gave_up_at != 0 ? header.dropped_block_timeout : header.dropped_ring_full;
}

}  // namespace torchtrace::core
