#pragma once

#include <atomic>
#include <cstdint>

namespace torchtrace::core {

/// Why the flush thread is woken before its period is over.
enum WakeReason : std::uint32_t {
  kWakeToFinish = 1U << 0U,  ///< The program is leaving. Stays set.
  kWakeToDrain = 1U << 1U,   ///< A thread waits for room in its ring.
  kWakeToDump = 1U << 2U,    ///< A flight recorder is to write what it holds, by request;
  kWakeSlowStep = 1U << 3U   ///< or because a training step was slow.
};

/// What op threads and the flush thread know of each other besides the rings. Owner:
/// `core::Process`, so a forked child has one of its own.
class Consumer {
 public:
  /// The flush thread says that it is there (`tid`), or that it is not any more (0).
  void set_thread(std::uint32_t tid) noexcept { tid_.store(tid, std::memory_order_release); }

  /// True if somebody other than thread `tid` drains.
  bool serves(std::uint32_t tid) const noexcept {
    const std::uint32_t consumer = tid_.load(std::memory_order_acquire);
    return consumer != 0 && consumer != tid;
  }

  /// Wakes the flush thread. Thread: any; async-signal-safe; keeps errno.
  void wake(WakeReason reason) noexcept;

  /// Flush thread: sleeps until it is woken, at most `ns`.
  void sleep(std::uint64_t ns) noexcept;

  /// Flush thread: true if woken for that reason since the last time. `kWakeToFinish` stays.
  bool take(WakeReason reason) noexcept;

  /// Flush thread: rings have been drained; those who wait for room look again.
  void has_drained() noexcept;

  /// Op thread: sleeps until rings have been drained since `round` was read, at most `ns`.
  void wait_for_drain(std::uint32_t round, std::uint64_t ns) noexcept;
  std::uint32_t round() const noexcept { return round_.load(); }

 private:
  std::atomic<std::uint32_t> tid_{0};
  std::atomic<std::uint32_t> reasons_{0};  ///< Futex.
  std::atomic<std::uint32_t> round_{0};    ///< Futex: drains so far.
  std::atomic<std::uint32_t> waiting_{0};  ///< Threads in `wait_for_drain`.
};

}  // namespace torchtrace::core
