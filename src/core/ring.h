#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace torchtrace::core {

/// What happens to an element for which there is no room.
enum RingPolicy : std::uint32_t {
  kRingDropNewest = 0,       ///< It is dropped.
  kRingOverwriteOldest = 1,  ///< It takes the place of the oldest one: a flight recorder.
  kRingBlock = 2             ///< The producer waits for the consumer, with a bound (full_ring.h).
};

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
  bool has_room() const noexcept { return has_room_at(tail.load(std::memory_order_relaxed)); }

  /// Where new elements overwrite old ones: takes the next `batch` slots, whatever they hold. The
  /// consumer's index is not read; it learns from `reserved` which of its copies may be torn.
  ///
  /// The fence keeps what is written into those slots behind the announcement: no instruction on
  /// x86, one per batch on AArch64. Elements have to be written by relaxed atomic stores.
  void take_oldest(std::atomic<Index>& reserved, Index batch) noexcept {
    room_end = static_cast<Index>(tail.load(std::memory_order_relaxed) + batch);
    reserved.store(room_end, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
  }

  /// Looks how far the consumer has come; true if one more element fits.
  bool find_room(const std::atomic<Index>& head) noexcept {
    room_end = static_cast<Index>(head.load(std::memory_order_acquire) + mask + 1);
    return has_room();
  }

  std::size_t slot() const noexcept { return slot_at(tail.load(std::memory_order_relaxed)); }

  /// Makes the element written at `slot()` visible to the consumer.
  void publish() noexcept { publish_at(tail.load(std::memory_order_relaxed)); }

  /// The same for a tail that has been read: the compiler must not merge reads of an atomic.
  bool has_room_at(Index at) const noexcept { return at != room_end; }
  std::size_t slot_at(Index at) const noexcept { return static_cast<std::size_t>(at & mask); }
  void publish_at(Index at) noexcept {
    tail.store(static_cast<Index>(at + 1), std::memory_order_release);
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

/// The consumer's side of a ring whose producer overwrites: `begin`, copy the elements [first,
/// end), `torn`. The producer may be writing into a slot from the moment it is reserved, so copies
/// are good if their slots were not yet reserved anew when the last of them had been made.
/// Source of the protocol: as of `read_open_op` (layout.h), with an index as the sequence number.
///
/// `reserved` may be ahead of the head by less than the range of `Index`. Thread: consumer only.
template <class Index>
struct RingSalvage {
  Index capacity;
  Index first;         ///< Index of the oldest element that may still be whole.
  Index end;           ///< Behind the newest one.
  std::uint64_t lost;  ///< Elements overwritten since the last time.

  static RingSalvage begin(Index mask, const std::atomic<Index>& shared_tail,
                           const std::atomic<Index>& reserved,
                           const std::atomic<Index>& shared_head) noexcept {
    const Index head = shared_head.load(std::memory_order_relaxed);
    const Index tail = shared_tail.load(std::memory_order_acquire);
    RingSalvage salvage{static_cast<Index>(mask + 1), head, tail, 0};
    salvage.give_up(reserved.load(std::memory_order_relaxed));
    return salvage;
  }

  std::size_t count() const noexcept { return static_cast<Index>(end - first); }

  /// How many of the copies, from the first on, are not to be used. Counted as lost.
  std::size_t torn(const std::atomic<Index>& reserved) noexcept {
    std::atomic_thread_fence(std::memory_order_acquire);
    return give_up(reserved.load(std::memory_order_relaxed));
  }

 private:
  std::size_t give_up(Index reserved_end) noexcept {
    const auto span = static_cast<Index>(reserved_end - first);
    if (span <= capacity) return 0;
    auto count_lost = static_cast<Index>(span - capacity);
    if (count_lost > count()) count_lost = static_cast<Index>(count());
    first = static_cast<Index>(first + count_lost);
    lost += count_lost;
    return count_lost;
  }
};

/// Copies an element that its producer may be overwriting, word by word.
template <class T>
void copy_relaxed(T& to, const T& from) noexcept {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::uint64_t) == 0 &&
                alignof(T) >= alignof(std::uint64_t));
  using Word __attribute__((may_alias)) = std::uint64_t;
  auto* target = reinterpret_cast<Word*>(&to);
  const auto* source = reinterpret_cast<const Word*>(&from);
  for (std::size_t word = 0; word < sizeof(T) / sizeof(Word); ++word) {
    target[word] = __atomic_load_n(source + word, __ATOMIC_RELAXED);
  }
}

/// `drain_ring` for a ring whose producer overwrites: appends what is whole to `out`, oldest first.
/// Returns how many elements were overwritten since the last time. Thread: consumer only; never
/// waits. May throw std::bad_alloc, before anything is taken.
template <class Index, class T>
std::uint64_t salvage_ring(const T* slots, Index mask, const std::atomic<Index>& shared_tail,
                           const std::atomic<Index>& reserved, std::atomic<Index>& shared_head,
                           std::vector<T>& out) {
  auto salvage = RingSalvage<Index>::begin(mask, shared_tail, reserved, shared_head);
  const std::size_t before = out.size();
  out.resize(before + salvage.count());
  for (std::size_t at = 0; at < salvage.count(); ++at) {
    copy_relaxed(out[before + at], slots[static_cast<Index>(salvage.first + at) & mask]);
  }
  const auto kept = out.begin() + static_cast<std::ptrdiff_t>(before);
  out.erase(kept, kept + static_cast<std::ptrdiff_t>(salvage.torn(reserved)));
  shared_head.store(salvage.end, std::memory_order_release);
  return salvage.lost;
}

}  // namespace torchtrace::core
