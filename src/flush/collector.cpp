#include "flush/collector.h"

#include <algorithm>

#include "core/populate.h"
#include "core/ring.h"

namespace torchtrace::flush {

using core::OpenOpCopy;
using core::ThreadBuffer;
using core::ThreadHeader;

namespace {

std::uint64_t value(const core::Counter& counter) noexcept {
  return counter.load(std::memory_order_relaxed);
}

/// Looks at a thread that is between two operators for most of the time.
constexpr int kInstantTries = 100;

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
    const std::size_t count = overwrites ? salvage(*buffer, buffer->header.ring.tail, sequencer)
                                         : drain(*buffer, sequencer);
    if (count >= half) is_pressed_ = true;
  }
  process_.consumer.has_drained();
  for (ThreadBuffer* buffer : rings) {
    if (!can_retire(*buffer)) continue;
    sequencer.retire(buffer->header.slot, now_ticks());
    retire(*buffer);
  }
}

void Collector::collect_instants(Sequencer& sequencer) {
  open_ = 0;
  collected_ = {};
  const std::vector<ThreadBuffer*> buffers = occupied();
  std::vector<std::uint64_t> tails;
  tails.reserve(buffers.size());
  for (const ThreadBuffer* buffer : buffers) tails.push_back(read_instant(*buffer, sequencer));
  for (std::size_t at = 0; at < buffers.size(); ++at) {
    const core::Counter tail{tails[at]};
    salvage(*buffers[at], tail, sequencer);
    collected_.dropped_overwritten += value(buffers[at]->header.overwritten);
  }
  const Totals ended = ended_;
  add_process(collected_);
  collected_.add(ended);
  collected_.open = open_;
  for (ThreadBuffer* buffer : buffers) {
    if (!can_retire(*buffer)) continue;
    sequencer.retire(buffer->header.slot, now_ticks());
    to_forget_.push_back(buffer->header.slot);
    retire(*buffer);
  }
}

void Collector::forget_ended() {
  for (const std::uint32_t slot : to_forget_) threads_.remove(slot);
  to_forget_.clear();
}

/// What one thread has counted and has open, all as of the moment at which its ring's tail was the
/// one returned. A thread that never stands still long enough is taken as it was found last.
std::uint64_t Collector::read_instant(const ThreadBuffer& buffer, Sequencer& sequencer) {
  const ThreadHeader& header = buffer.header;
  const auto take = [&](const OpenOpCopy& op) { opens_.push_back(op); };
  Totals counted;
  std::uint64_t tail = 0;
  for (int attempt = 0; attempt < kInstantTries; ++attempt) {
    opens_.clear();
    counted = {};
    const std::uint64_t newest = header.last_op_id.load(std::memory_order_acquire);
    const std::uint32_t depth = header.depth.load(std::memory_order_acquire);
    tail = header.ring.tail.load(std::memory_order_acquire);
    for_each_open_frame(buffer, take);
    for_each_open_scope(buffer, take);
    add_counters(counted, header);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (header.last_op_id.load(std::memory_order_relaxed) == newest &&
        header.ring.tail.load(std::memory_order_relaxed) == tail &&
        header.depth.load(std::memory_order_relaxed) == depth) {
      break;
    }
  }
  counted.dropped_overwritten = 0;  // counted as the ring is read
  collected_.add(counted);
  open_ += opens_.size();
  for (const OpenOpCopy& copy : opens_) feed(sequencer, copy);
  return tail;
}

void Collector::release_ended(std::uint64_t horizon_ticks) {
  ThreadBuffer* first = nullptr;
  std::uint64_t first_ticks = UINT64_MAX;
  for (ThreadBuffer* buffer : occupied()) {
    const ThreadHeader& header = buffer->header;
    if (header.state.load(std::memory_order_acquire) != core::kBufferClosed) continue;
    const std::uint64_t newest = value(header.ring.tail) - 1;
    const std::uint64_t read = buffer->slots()[newest & header.ring.mask].t1_ticks;
    const std::uint64_t ticks = repair_ == nullptr ? read : repair_->place(read);
    if (ticks < horizon_ticks) {
      discard(*buffer);
    } else if (ticks < first_ticks) {
      first_ticks = ticks;
      first = buffer;
    }
  }
  if (first != nullptr && process_.threads.is_exhausted()) discard(*first);
}

void Collector::discard(ThreadBuffer& buffer) {
  ThreadHeader& header = buffer.header;
  core::bump(header.overwritten, value(header.ring.tail) - value(header.head));
  header.head.store(value(header.ring.tail), std::memory_order_release);
  if (!can_retire(buffer)) return;
  const std::uint32_t slot = header.slot;
  retire(buffer);
  // Nothing of it is left that could need its name.
  threads_.remove(slot);
  new_threads_.erase(std::remove(new_threads_.begin(), new_threads_.end(), slot),
                     new_threads_.end());
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
    feed(sequencer, op);
    ++open_;
  };
  for_each_open_frame(buffer, take);
  for_each_open_scope(buffer, take);
}

TickRepair::Starts Collector::starts() const {
  TickRepair::Starts starts;
  for (std::uint32_t index = 0; index < process_.threads.count(); ++index) {
    const ThreadBuffer* buffer = process_.threads.buffer(index);
    if (buffer == nullptr || !is_occupied(buffer->header)) continue;
    starts[buffer->header.slot] = buffer->header.started();
  }
  return starts;
}

std::uint64_t Collector::now_ticks() const noexcept {
  const std::uint64_t ticks = core::read_ticks();
  return repair_ == nullptr ? ticks : repair_->place(ticks);
}

void Collector::feed(Sequencer& sequencer, const core::Record* first, std::size_t count) {
  if (repair_ == nullptr) return sequencer.add_records(first, count);
  repaired_.assign(first, first + count);
  for (core::Record& record : repaired_) repair_->repair(record);
  sequencer.add_records(repaired_.data(), repaired_.size());
}

void Collector::feed(Sequencer& sequencer, OpenOpCopy op) const {
  if (repair_ != nullptr) repair_->repair(op);
  sequencer.add_open(op);
}

std::size_t Collector::drain(ThreadBuffer& buffer, Sequencer& sequencer) {
  return core::drain_ring(
      buffer.slots(), process_.mapping.ring_slots() - 1, buffer.header.ring.tail,
      buffer.header.head,
      [&](const core::Record* first, std::size_t run) { feed(sequencer, first, run); });
}

/// Of a ring that overwrites. Copied apart, since a copy may turn out to be torn.
std::size_t Collector::salvage(ThreadBuffer& buffer, const core::Counter& tail,
                               Sequencer& sequencer) {
  ThreadHeader& header = buffer.header;
  salvaged_.clear();
  const std::uint64_t lost = core::salvage_ring(buffer.slots(), process_.mapping.ring_slots() - 1,
                                                tail, header.ring_reserved, header.head, salvaged_);
  core::bump(header.overwritten, lost);
  feed(sequencer, salvaged_.data(), salvaged_.size());
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

void Collector::retire(ThreadBuffer& buffer) {
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
  add_process(totals);
  totals.open = open_;
  return totals;
}

/// What threads without a buffer have counted.
void Collector::add_process(Totals& totals) const noexcept {
  const core::ProcessHeader& header = process_.mapping.header();
  totals.started += value(header.unbuffered_started);
  totals.dropped_no_buffer += value(header.dropped_no_buffer);
}

}  // namespace torchtrace::flush
