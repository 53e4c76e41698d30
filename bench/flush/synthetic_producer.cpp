#include "flush/synthetic_producer.h"

#include <sched.h>

#include <stdexcept>
#include <string>

#include "core/clock.h"

namespace torchtrace::bench {

SyntheticProducer::SyntheticProducer(core::Process& process) : state_(process.threads.attach(1)) {
  if (state_ == nullptr) throw std::runtime_error("no buffer for a producer");
  for (std::uint32_t index = 0; index < kNames; ++index) {
    name_ids_[index] = process.names.intern("aten::synthetic_" + std::to_string(index), "Tensor");
  }
}

void SyntheticProducer::push(std::uint64_t count) noexcept {
  for (std::uint64_t done = 0; done < count; ++done) {
    if (state_->ring.has_room(state_->header->head)) {
      push_one();
    } else {
      state_->header->started.store(++state_->started, std::memory_order_relaxed);
      core::bump(state_->header->dropped_ring_full);
    }
  }
}

void SyntheticProducer::push_all(std::uint64_t count) noexcept {
  for (std::uint64_t done = 0; done < count; ++done) {
    while (!state_->ring.has_room(state_->header->head)) sched_yield();
    push_one();
  }
}

void SyntheticProducer::push_one() noexcept {
  const std::uint64_t t0_ticks = core::read_ticks();
  if (ended_ == 0) {
    parent_count_ = ++state_->started;
    parent_t0_ticks_ = t0_ticks - 1;
  }
  const bool is_parent = ended_ == kTreeSize - 1;
  const std::uint64_t count = is_parent ? parent_count_ : ++state_->started;
  state_->header->started.store(state_->started, std::memory_order_relaxed);
  core::Record& record = state_->slots[state_->ring.slot()];
  record = {};
  record.t0_ticks = is_parent ? parent_t0_ticks_ : t0_ticks;
  record.t1_ticks = core::read_ticks();
  record.op_id = core::OpId::make(state_->slot, count);
  record.parent = is_parent ? 0 : core::OpId::make(state_->slot, parent_count_);
  record.sequence_nr = -1;
  record.name_id = name_ids_[count % kNames];
  record.end_slot = state_->slot;
  record.depth = is_parent ? 0 : 1;
  state_->ring.publish(state_->header->tail);
  ended_ = is_parent ? 0 : ended_ + 1;
}

}  // namespace torchtrace::bench
