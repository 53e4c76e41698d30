#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "core/events.h"
#include "core/layout.h"

/// What is read of a thread's buffer, by the flush thread while the thread runs and by recovery
/// after its death.
namespace torchtrace::flush {

/// What the events say of a thread.
struct ThreadInfo {
  std::uint32_t slot = 0;
  std::uint32_t tid = 0;
  std::uint64_t torch_thread = 0;
  std::string name;
};

/// Threads by slot. Kept after their end: their operators may still be held back.
class ThreadDirectory {
 public:
  void add(ThreadInfo thread) { threads_[thread.slot] = std::move(thread); }

  void remove(std::uint32_t slot) { threads_.erase(slot); }

  /// The thread of a slot; a placeholder for one that was never seen.
  const ThreadInfo& find(std::uint32_t slot) const noexcept {
    const auto found = threads_.find(slot);
    return found == threads_.end() ? unknown_ : found->second;
  }

 private:
  std::unordered_map<std::uint32_t, ThreadInfo> threads_;
  ThreadInfo unknown_{0, 0, 0, "unknown"};
};

/// Records lost on one thread for one reason since the last time.
struct Loss {
  std::uint32_t slot = 0;
  const char* reason = "";
  std::uint64_t count = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// Sums over all threads since the start of the process, those that have ended included.
struct Totals {
  std::uint64_t started = 0;
  std::uint64_t filtered = 0;
  std::uint64_t dropped_ring_full = 0;
  std::uint64_t dropped_too_deep = 0;
  std::uint64_t dropped_no_scope = 0;
  std::uint64_t dropped_no_buffer = 0;
  std::uint64_t dropped_abandoned = 0;
  std::uint64_t dropped_block_timeout = 0;
  std::uint64_t dropped_overwritten = 0;
  std::uint64_t open = 0;  ///< As seen on the stacks by the last `collect`.

  /// Adds or takes away all but `open`.
  void add(const Totals& other) noexcept;
  void subtract(const Totals& other) noexcept;

  std::uint64_t dropped() const noexcept {
    return dropped_ring_full + dropped_too_deep + dropped_no_scope + dropped_no_buffer +
           dropped_abandoned + dropped_block_timeout + dropped_overwritten;
  }
};

/// Puts every sum into the receipt's field of its name.
void put_totals(const Totals& totals, torchtrace_receipt& receipt) noexcept;

ThreadInfo thread_info(const core::ThreadHeader& header);

/// Adds what one thread has counted.
void add_counters(Totals& totals, const core::ThreadHeader& header) noexcept;

/// True while a thread has the buffer, or had it and is not yet drained.
inline bool is_occupied(const core::ThreadHeader& header) noexcept {
  const std::uint32_t owner = header.state.load(std::memory_order_acquire);
  return owner == core::kBufferActive || owner == core::kBufferClosed;
}

/// Calls `take(const core::OpenOpCopy&)` for all operators that are on the thread's stack, from the
/// outermost to the innermost, but for user scopes, whose frames are no proof that they are open.
template <class Take>
void for_each_open_frame(const core::ThreadBuffer& buffer, Take&& take) {
  const std::uint32_t depth =
      std::min(buffer.header.depth.load(std::memory_order_acquire), core::kMaxFrames);
  core::OpenOpCopy copy{};
  for (std::uint32_t at = 1; at <= depth; ++at) {
    if (core::read_open_op(buffer.frames[at], copy) && copy.scope_entry == 0) take(copy);
  }
}

/// The same for the user scopes that the thread has started, in no order.
template <class Take>
void for_each_open_scope(const core::ThreadBuffer& buffer, Take&& take) {
  const std::uint32_t used =
      std::min(buffer.header.scopes_used.load(std::memory_order_acquire), core::kMaxScopes);
  core::OpenOpCopy copy{};
  for (std::uint32_t at = 0; at < used; ++at) {
    const core::OpenOp& entry = buffer.scopes[at];
    if (entry.state.load(std::memory_order_acquire) != core::kScopeOpen) continue;
    if (core::read_open_op(entry, copy) && copy.state == core::kScopeOpen) take(copy);
  }
}

}  // namespace torchtrace::flush
