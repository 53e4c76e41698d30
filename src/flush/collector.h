#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/process.h"
#include "flush/sequencer.h"

namespace torchtrace::flush {

/// What the events say of a thread. Kept after its end: its operators may still be held back.
struct ThreadInfo {
  std::uint32_t slot = 0;
  std::uint32_t tid = 0;
  std::uint64_t torch_thread = 0;
  std::string name;
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
  std::uint64_t dropped_ring_full = 0;
  std::uint64_t dropped_too_deep = 0;
  std::uint64_t dropped_no_scope = 0;
  std::uint64_t dropped_no_buffer = 0;
  std::uint64_t dropped_abandoned = 0;
  std::uint64_t dropped_block_timeout = 0;
  std::uint64_t dropped_overwritten = 0;
  std::uint64_t open = 0;  ///< As seen on the stacks by the last `collect`.

  std::uint64_t dropped() const noexcept {
    return dropped_ring_full + dropped_too_deep + dropped_no_scope + dropped_no_buffer +
           dropped_abandoned + dropped_block_timeout + dropped_overwritten;
  }
};

/// Reads the op threads' buffers: the consumer's side of the shared mapping.
/// Thread: one (the flush thread).
class Collector {
 public:
  explicit Collector(core::Process& process) : process_(process) {}

  /// One period: all stacks, then all rings, into `sequencer`; threads that have ended are taken
  /// back.
  void collect(Sequencer& sequencer);

  /// True if a ring was more than half full: drain again soon.
  bool is_pressed() const noexcept { return is_pressed_; }

  /// The thread of a slot; a placeholder for one that was never seen.
  const ThreadInfo& thread(std::uint32_t slot) const noexcept;

  /// Slots of the threads first seen since the last call.
  std::vector<std::uint32_t> take_new_threads() { return std::exchange(new_threads_, {}); }

  /// Slots of the threads that have a buffer.
  std::vector<std::uint32_t> present_threads() const;

  /// Slots of the threads that are running and have started operators since the last call.
  std::vector<std::uint32_t> take_active_threads();

  std::vector<Loss> take_losses();

  Totals totals() const noexcept;

 private:
  /// Per buffer: who has it, and what was already told of it.
  struct Seat {
    std::uint32_t slot = 0;
    std::uint64_t started_told = 0;
    std::uint64_t ring_full_told = 0;
    std::uint64_t too_deep_told = 0;
    std::uint64_t no_scope_told = 0;
    std::uint64_t abandoned_told = 0;
    std::uint64_t block_timeout_told = 0;
    std::uint64_t overwritten_told = 0;
  };

  bool meet(std::uint32_t index, core::ThreadBuffer& buffer);
  void read_stack(const core::ThreadBuffer& buffer, Sequencer& sequencer);
  void read_scopes(const core::ThreadBuffer& buffer, Sequencer& sequencer);
  std::size_t drain(core::ThreadBuffer& buffer, Sequencer& sequencer);
  std::size_t salvage(core::ThreadBuffer& buffer, Sequencer& sequencer);
  std::vector<core::ThreadBuffer*> occupied();
  core::ThreadBuffer* occupant(std::uint32_t index) const noexcept;
  bool can_retire(const core::ThreadBuffer& buffer) const noexcept;
  void retire(core::ThreadBuffer& buffer, Sequencer& sequencer);
  static void add_losses(std::vector<Loss>& losses, const core::ThreadHeader& header, Seat& seat);

  core::Process& process_;
  std::vector<Seat> seats_;
  std::unordered_map<std::uint32_t, ThreadInfo> threads_;
  ThreadInfo unknown_thread_{0, 0, 0, "unknown"};
  std::vector<std::uint32_t> new_threads_;
  std::vector<Loss> ended_losses_;
  std::vector<core::Record> salvaged_;
  Totals ended_;
  std::uint64_t open_ = 0;
  bool is_pressed_ = false;
};

}  // namespace torchtrace::flush
