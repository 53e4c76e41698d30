#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>

namespace torchtrace::core {

/// Producer's side of a single-producer single-consumer ring: the consumer only reads `tail`.
///
/// Indexes run freely and wrap with `Index`; a power-of-two capacity at most half the range of
/// `Index` makes `tail - head` right across the wrap. `Index` is a parameter so that tests wrap 8
/// bits. Thread: producer only. Errors: none; a full ring is an answer, not an error.
template <class Index>
struct RingProducer {
  std::atomic<Index> tail;
  /// Up to here the slots are known to be free: one comparison per push, whatever the policy, and
  /// the consumer's line is read once per lap. What happens here is the policy's.
  Index room_end;
  Index mask;

  void reset(Index new_mask) noexcept {
    tail.store(0, std::memory_order_relaxed);
    room_end = 0;
    mask = new_mask;
  }

  /// True if one more element fits into what is known to be free.
  bool has_room() const noexcept { return tail.load(std::memory_order_relaxed) != room_end; }

  /// Looks how far the consumer has come; true if one more element fits.
  bool find_room(const std::atomic<Index>& head) noexcept {
    room_end = static_cast<Index>(head.load(std::memory_order_acquire) + mask + 1);
    return has_room();
  }

  std::size_t slot() const noexcept {
    return static_cast<std::size_t>(tail.load(std::memory_order_relaxed) & mask);
  }

  /// Makes the element written at `slot()` visible to the consumer.
  void publish() noexcept {
    tail.store(static_cast<Index>(tail.load(std::memory_order_relaxed) + 1),
               std::memory_order_release);
  }
};

/// Hands every element between head and tail to `take(const T* first, std::size_t count)`, at most
/// two runs, then frees their slots. Returns how many there were.
/// Thread: consumer only; never waits.
template <class Index, class T, class Take>
std::size_t drain_ring(const T* slots, Index mask, const std::atomic<Index>& shared_tail,
                       std::atomic<Index>& shared_head, Take&& take) {
  const Index head = shared_head.load(std::memory_order_relaxed);
  const Index tail = shared_tail.load(std::memory_order_acquire);
  const auto count = static_cast<std::size_t>(static_cast<Index>(tail - head));
  if (count == 0) return 0;
  const auto first = static_cast<std::size_t>(head & mask);
  const std::size_t capacity = static_cast<std::size_t>(mask) + 1;
  const std::size_t until_end = count < capacity - first ? count : capacity - first;
  take(slots + first, until_end);
  if (count > until_end) take(slots, count - until_end);
  shared_head.store(tail, std::memory_order_release);
  return count;
}

}  // namespace torchtrace::core
