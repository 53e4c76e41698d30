#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>

namespace torchtrace::core {

/// Producer's side of a single-producer single-consumer ring: the consumer never writes here.
///
/// Indexes run freely and wrap with `Index`; a power-of-two capacity at most half the range of
/// `Index` makes `tail - head` right across the wrap. `Index` is a parameter so that tests wrap 8
/// bits. Thread: producer only. Errors: none; a full ring is an answer, not an error.
template <class Index>
struct RingProducer {
  Index tail = 0;
  Index cached_head = 0;  ///< Last head seen: one cross-core read per lap instead of per push.
  Index mask = 0;

  /// True if one more element fits. Reads the consumer's line only when the cached head says full.
  bool has_room(const std::atomic<Index>& head) noexcept {
    if (static_cast<Index>(tail - cached_head) <= mask) return true;
    cached_head = head.load(std::memory_order_acquire);
    return static_cast<Index>(tail - cached_head) <= mask;
  }

  std::size_t slot() const noexcept { return static_cast<std::size_t>(tail & mask); }

  /// Makes the element written at `slot()` visible to the consumer.
  void publish(std::atomic<Index>& shared_tail) noexcept {
    tail = static_cast<Index>(tail + 1);
    shared_tail.store(tail, std::memory_order_release);
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
