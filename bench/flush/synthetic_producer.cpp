#include "flush/synthetic_producer.h"

#include <sched.h>

#include <stdexcept>
#include <string>

#include "core/clock.h"

namespace torchtrace::bench {

SyntheticProducer::SyntheticProducer(core::Process& process) : buffer_(process.threads.attach(1)) {
  if (buffer_ == nullptr) throw std::runtime_error("no buffer for a producer");
  for (std::uint32_t index = 0; index < kNames; ++index) {
    name_ids_[index] = process.names.intern("aten::synthetic_" + std::to_string(index), "Tensor");
  }
}

std::uint64_t SyntheticProducer::next_op_id() noexcept {
  core::Counter& last = buffer_->header.last_op_id;
  last.store(last.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return last.load(std::memory_order_relaxed);
}

bool SyntheticProducer::has_room() noexcept {
  core::ThreadHeader& header = buffer_->header;
  return header.ring.has_room() || header.ring.find_room(header.head);
}

void SyntheticProducer::push(std::uint64_t count) noexcept {
  for (std::uint64_t done = 0; done < count; ++done) {
    if (has_room()) {
      push_one();
    } else {
      next_op_id();
      core::bump(buffer_->header.dropped_ring_full);
    }
  }
}

void SyntheticProducer::push_all(std::uint64_t count) noexcept {
  for (std::uint64_t done = 0; done < count; ++done) {
    while (!has_room()) sched_yield();
    push_one();
  }
}

void SyntheticProducer::push_one() noexcept {
  const std::uint64_t t0_ticks = core::read_ticks();
  if (ended_ == 0) {
    parent_op_id_ = next_op_id();
    parent_t0_ticks_ = t0_ticks - 1;
  }
  const bool is_parent = ended_ == kTreeSize - 1;
  core::Record& record = buffer_->slots()[buffer_->header.ring.slot()];
  record = {};
  record.t0_ticks = is_parent ? parent_t0_ticks_ : t0_ticks;
  record.t1_ticks = core::read_ticks();
  record.op_id = is_parent ? parent_op_id_ : next_op_id();
  record.parent = is_parent ? 0 : parent_op_id_;
  record.sequence_nr = -1;
  record.name_id = name_ids_[record.op_id % kNames];
  record.end_slot = buffer_->header.slot;
  record.depth = is_parent ? 0 : 1;
  buffer_->header.ring.publish();
  ended_ = is_parent ? 0 : ended_ + 1;
}

}  // namespace torchtrace::bench
