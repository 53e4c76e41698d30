#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "core/thread_buffer.h"

namespace torchtrace::core {

class Mapping;

/// Gives each op thread a buffer at its first operator and takes it back after its end.
///
/// Lock-free, hence usable in a fork child. Buffers are recycled, slots never are: 2^24 threads per
/// process can be told apart, later ones are refused.
class ThreadRegistry {
 public:
  /// Thread: one, before the others. False if there is no memory.
  bool create(Mapping& mapping, RingPolicy policy = kRingDropNewest) noexcept;

  /// Buffer and identity for the calling thread, set as `t_buffer`; nullptr if none can be had (cap
  /// reached, no memory, or the thread is already past its own end): count, do not record.
  /// Cold: some system calls for a new buffer, none for a recycled one.
  ThreadBuffer* attach(std::uint64_t torch_thread) noexcept;

  /// Flush thread: buffers by index, [0, count); nullptr while one is being made.
  std::uint32_t count() const noexcept { return next_buffer_.load(std::memory_order_acquire); }
  ThreadBuffer* buffer(std::uint32_t index) const noexcept {
    return buffers_[index].load(std::memory_order_acquire);
  }

  /// Flush thread: maps new buffers, their pages present, until `count` are free or the cap is
  /// reached: one per call.
  void keep_spare(std::uint32_t count) noexcept;

  /// True if a new thread would get no buffer.
  bool is_exhausted() const noexcept;

  /// Flush thread: makes a closed and drained buffer available again.
  void recycle(ThreadBuffer& buffer) noexcept;

  /// In a forked child, on the thread that forked: it has no buffer there.
  static void forget_this_thread() noexcept;

 private:
  std::uint32_t take_slot() noexcept;  ///< 0 when all have been given out.
  ThreadBuffer* take_free() noexcept;
  ThreadBuffer* add_buffer(BufferState state) noexcept;
  ThreadBuffer* take_new() noexcept;

  Mapping* mapping_ = nullptr;
  RingPolicy policy_ = kRingDropNewest;
  std::atomic<ThreadBuffer*>* buffers_ = nullptr;
  std::atomic<std::uint32_t> next_buffer_{0};
  std::atomic<std::uint32_t> free_count_{0};
  std::atomic<std::uint32_t> next_slot_{1};
};

}  // namespace torchtrace::core
