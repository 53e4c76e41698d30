#include "flush/collector.h"

#include <sys/mman.h>

#include <algorithm>

#include "core/ring.h"

#ifndef MADV_POPULATE_WRITE  // Linux 5.14; older headers lack it, older kernels answer EINVAL
#define MADV_POPULATE_WRITE 23
#endif

namespace torchtrace::flush {

using core::OpenOpCopy;
using core::ThreadBuffer;
using core::ThreadHeader;

namespace {

std::uint64_t value(const core::Counter& counter) noexcept {
  return counter.load(std::memory_order_relaxed);
}

}  // namespace

void Collector::collect(Sequencer& sequencer) {
  open_ = 0;
  is_pressed_ = false;
  // All stacks before any ring: an operator that ends in between is in both, never in neither.
  for (const ThreadBuffer* buffer : occupied()) read_open(*buffer, sequencer);
  // Looked for again: a thread may begin with the end of a scope that was just read as ended.
  const std::vector<ThreadBuffer*> rings = occupied();
  const std::uint64_t half = process_.mapping.ring_slots() / 2;
  for (ThreadBuffer* buffer : rings) {
    const bool overwrites = buffer->header.ring_policy == core::kRingOverwriteOldest;
    const std::size_t count = overwrites ? salvage(*buffer, sequencer) : drain(*buffer, sequencer);
    if (count >= half) is_pressed_ = true;
  }
  process_.consumer.has_drained();
  for (ThreadBuffer* buffer : rings) {
    if (can_retire(*buffer)) retire(*buffer, sequencer);
  }
}

std::vector<ThreadBuffer*> Collector::occupied() {
  const std::uint32_t count = process_.threads.count();
  seats_.resize(std::max<std::size_t>(seats_.size(), count));
  std::vector<ThreadBuffer*> buffers;
  for (std::uint32_t index = 0; index < count; ++index) {
    ThreadBuffer* buffer = process_.threads.buffer(index);
    if (buffer != nullptr && meet(index, *buffer)) buffers.push_back(buffer);
  }
  return buffers;
}

/// The buffer of a seat whose thread has been met and still has it; nullptr otherwise.
ThreadBuffer* Collector::occupant(std::uint32_t index) const noexcept {
  ThreadBuffer* buffer = process_.threads.buffer(index);
  if (buffer == nullptr || seats_[index].slot == 0) return nullptr;
  if (!is_occupied(buffer->header)) return nullptr;
  return seats_[index].slot == buffer->header.slot ? buffer : nullptr;
}

bool Collector::meet(std::uint32_t index, ThreadBuffer& buffer) {
  const ThreadHeader& header = buffer.header;
  if (!is_occupied(header)) return false;
  Seat& seat = seats_[index];
  if (seat.slot == header.slot) return true;
  const bool is_new_buffer = seat.slot == 0;
  seat = {};
  seat.slot = header.slot;
  threads_.add(thread_info(header));
  new_threads_.push_back(seat.slot);
  if (is_new_buffer) {
    // Takes the page faults of the first lap off the op thread. Changes no byte; a kernel that does
    // not know it leaves the faults where they were.
    madvise(buffer.slots(), process_.mapping.ring_slots() * sizeof(core::Record),
            MADV_POPULATE_WRITE);
  }
  return true;
}

void Collector::read_open(const ThreadBuffer& buffer, Sequencer& sequencer) {
  const auto take = [&](const OpenOpCopy& op) {
    sequencer.add_open(op);
    ++open_;
  };
  for_each_open_frame(buffer, take);
  for_each_open_scope(buffer, take);
}

std::size_t Collector::drain(ThreadBuffer& buffer, Sequencer& sequencer) {
  return core::drain_ring(
      buffer.slots(), process_.mapping.ring_slots() - 1, buffer.header.ring.tail,
      buffer.header.head,
      [&](const core::Record* first, std::size_t run) { sequencer.add_records(first, run); });
}

/// Of a ring that overwrites. Copied apart, since a copy may turn out to be torn.
std::size_t Collector::salvage(ThreadBuffer& buffer, Sequencer& sequencer) {
  ThreadHeader& header = buffer.header;
  salvaged_.clear();
  const std::uint64_t lost =
      core::salvage_ring(buffer.slots(), process_.mapping.ring_slots() - 1, header.ring.tail,
                         header.ring_reserved, header.head, salvaged_);
  core::bump(header.overwritten, lost);
  sequencer.add_records(salvaged_.data(), salvaged_.size());
  return salvaged_.size();
}

/// An open scope may still be ended by another thread, which writes its entry here.
bool Collector::can_retire(const ThreadBuffer& buffer) const noexcept {
  const ThreadHeader& header = buffer.header;
  if (header.state.load(std::memory_order_acquire) != core::kBufferClosed) return false;
  if (value(header.ring.tail) != value(header.head)) return false;
  const std::uint32_t used = header.scopes_used.load(std::memory_order_relaxed);
  return std::none_of(buffer.scopes, buffer.scopes + used, [](const core::OpenOp& entry) {
    return entry.state.load(std::memory_order_acquire) == core::kScopeOpen;
  });
}

void Collector::retire(ThreadBuffer& buffer, Sequencer& sequencer) {
  ThreadHeader& header = buffer.header;
  Seat& seat = seats_[header.buffer_index];
  // Frames of functions that the thread ended inside of will never be popped.
  const std::uint32_t depth = header.depth.load(std::memory_order_relaxed);
  for (std::uint32_t at = 1; at <= depth; ++at) {
    const core::OpenOp& frame = buffer.frames[at];
    const std::uint64_t info = frame.info.load(std::memory_order_relaxed);
    if (frame.scope_entry.load(std::memory_order_relaxed) != 0 ||
        (core::OpInfo::flags(info) & core::kFlagFiltered) != 0) {
      continue;
    }
    core::bump(header.abandoned);
    header.last_loss.store(header.started(), std::memory_order_relaxed);
    --open_;
  }
  add_losses(ended_losses_, header, seat);
  add_counters(ended_, header);
  publish_ended(header.slot);
  sequencer.retire(header.slot, core::read_ticks());
  process_.threads.recycle(buffer);
}

/// Before the buffer is given back, which forgets what its thread has counted.
void Collector::publish_ended(std::uint32_t last_slot) noexcept {
  process_.mapping.header().ended.publish(
      {ended_.started, ended_.filtered, ended_.dropped_ring_full, ended_.dropped_too_deep,
       ended_.dropped_no_scope, ended_.dropped_abandoned, ended_.dropped_block_timeout,
       ended_.dropped_overwritten, last_slot});
}

std::vector<std::uint32_t> Collector::present_threads() const {
  std::vector<std::uint32_t> slots;
  for (std::uint32_t index = 0; index < seats_.size(); ++index) {
    if (occupant(index) != nullptr) slots.push_back(seats_[index].slot);
  }
  return slots;
}

std::vector<std::uint32_t> Collector::take_active_threads() {
  std::vector<std::uint32_t> slots;
  for (std::uint32_t index = 0; index < seats_.size(); ++index) {
    const ThreadBuffer* buffer = occupant(index);
    if (buffer == nullptr) continue;
    Seat& seat = seats_[index];
    const std::uint64_t started = buffer->header.started();
    if (started != seat.started_told) slots.push_back(seat.slot);
    seat.started_told = started;
  }
  return slots;
}

/// What was lost on one thread since it was last told.
void Collector::add_losses(std::vector<Loss>& losses, const ThreadHeader& header, Seat& seat) {
  const struct {
    const char* reason;
    const core::Counter& counter;
    std::uint64_t& told;
  } reasons[] = {
      {"dropped_ring_full", header.dropped_ring_full, seat.ring_full_told},
      {"dropped_too_deep", header.dropped_too_deep, seat.too_deep_told},
      {"dropped_no_scope", header.dropped_no_scope, seat.no_scope_told},
      {"dropped_abandoned", header.abandoned, seat.abandoned_told},
      {"dropped_block_timeout", header.dropped_block_timeout, seat.block_timeout_told},
      {"dropped_overwritten", header.overwritten, seat.overwritten_told},
  };
  for (const auto& [reason, counter, told] : reasons) {
    const std::uint64_t now = value(counter);
    if (now == told) continue;
    // Which operators were overwritten, nobody has seen.
    const bool is_known = &counter != &header.overwritten;
    losses.push_back({header.slot, reason, now - told, is_known ? value(header.first_loss) : 0,
                      is_known ? value(header.last_loss) : 0});
    told = now;
  }
}

std::vector<Loss> Collector::take_losses() {
  std::vector<Loss> losses;
  losses.swap(ended_losses_);
  for (std::uint32_t index = 0; index < seats_.size(); ++index) {
    const ThreadBuffer* buffer = occupant(index);
    if (buffer == nullptr) continue;
    add_losses(losses, buffer->header, seats_[index]);
  }
  return losses;
}

Totals Collector::totals() const noexcept {
  Totals totals = ended_;
  for (std::uint32_t index = 0; index < process_.threads.count(); ++index) {
    const ThreadBuffer* buffer = process_.threads.buffer(index);
    if (buffer != nullptr && is_occupied(buffer->header)) add_counters(totals, buffer->header);
  }
  const core::ProcessHeader& header = process_.mapping.header();
  totals.started += value(header.unbuffered_started);
  totals.dropped_no_buffer = value(header.dropped_no_buffer);
  totals.open = open_;
  return totals;
}

}  // namespace torchtrace::flush
