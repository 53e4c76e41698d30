#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/process.h"
#include "flush/sequencer.h"
#include "flush/thread_buffers.h"
#include "flush/tick_repair.h"

namespace torchtrace::flush {

/// Reads the op threads' buffers: the consumer's side of the shared mapping.
/// Thread: one (the flush thread).
class Collector {
 public:
  explicit Collector(core::Process& process) : process_(process) {}

  /// One period: all stacks, then all rings, into `sequencer`; threads that have ended are taken
  /// back.
  void collect(Sequencer& sequencer);

  /// How many operators each thread has started.
  TickRepair::Starts starts() const;

  /// From now on all that is read goes through `repair`, which is not owned. See TraceClock.
  void set_repair(const TickRepair* repair) noexcept { repair_ = repair; }

  /// Same while threads run on, for a dump that has to add up: what is counted and collected of a
  /// thread is what there was at one instant. Threads have different ones, so that a scope which
  /// another thread ended in between may be in both or in neither: then `totals_as_collected` does
  /// not agree with what was collected, and it has to be called again.
  void collect_instants(Sequencer& sequencer);

  /// Of the last `collect_instants`.
  const Totals& totals_as_collected() const noexcept { return collected_; }

  /// All that `collect_instants` has found has been written: forgets the threads of it that ended.
  void forget_ended();

  /// For a flight recorder, between dumps: meets new threads, and takes the buffers back of those
  /// that ended before `horizon_ticks`, or if a new thread would get none, of the one that ended
  /// first. What those still held is counted as overwritten.
  void release_ended(std::uint64_t horizon_ticks);

  /// True if a ring was more than half full: drain again soon.
  bool is_pressed() const noexcept { return is_pressed_; }

  const ThreadDirectory& threads() const noexcept { return threads_; }

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
  void read_open(const core::ThreadBuffer& buffer, Sequencer& sequencer);
  std::uint64_t read_instant(const core::ThreadBuffer& buffer, Sequencer& sequencer);
  void feed(Sequencer& sequencer, const core::Record* first, std::size_t count);
  void feed(Sequencer& sequencer, core::OpenOpCopy op) const;
  std::uint64_t now_ticks() const noexcept;
  std::size_t drain(core::ThreadBuffer& buffer, Sequencer& sequencer);
  std::size_t salvage(core::ThreadBuffer& buffer, const core::Counter& tail, Sequencer& sequencer);
  void discard(core::ThreadBuffer& buffer);
  std::vector<core::ThreadBuffer*> occupied();
  core::ThreadBuffer* occupant(std::uint32_t index) const noexcept;
  bool can_retire(const core::ThreadBuffer& buffer) const noexcept;
  void retire(core::ThreadBuffer& buffer);
  void publish_ended(std::uint32_t last_slot) noexcept;
  void add_process(Totals& totals) const noexcept;
  static void add_losses(std::vector<Loss>& losses, const core::ThreadHeader& header, Seat& seat);

  core::Process& process_;
  std::vector<Seat> seats_;
  ThreadDirectory threads_;
  std::vector<std::uint32_t> new_threads_;
  std::vector<std::uint32_t> to_forget_;
  std::vector<Loss> ended_losses_;
  std::vector<core::Record> salvaged_;
  std::vector<core::Record> repaired_;
  const TickRepair* repair_ = nullptr;
  Totals ended_;
  Totals collected_;
  std::vector<core::OpenOpCopy> opens_;
  std::uint64_t open_ = 0;
  bool is_pressed_ = false;
};

}  // namespace torchtrace::flush
