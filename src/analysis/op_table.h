#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace torchtrace::analysis {

/// Maps op_ids to 32-bit indices: open addressing with linear probing and no tombstones, because
/// nearly every operator is inserted and erased once. 0 is not an op_id and marks free slots.
class OpTable {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::uint32_t find(std::uint64_t op_id) const noexcept {
    for (std::size_t at = home(op_id);; at = next(at)) {
      if (slots_[at].op_id == op_id) {
        return slots_[at].index;
      }
      if (slots_[at].op_id == 0) {
        return kNone;
      }
    }
  }

  /// `op_id` must not be in the table.
  void insert(std::uint64_t op_id, std::uint32_t index) {
    if (2 * (size_ + 1) > slots_.size()) {
      grow();
    }
    ++size_;
    place({op_id, index});
  }

  void erase(std::uint64_t op_id) noexcept {
    std::size_t hole = home(op_id);
    while (slots_[hole].op_id != op_id) {
      if (slots_[hole].op_id == 0) {
        return;
      }
      hole = next(hole);
    }
    // Close the gap: move back what could not have its home because of the slots before it.
    for (std::size_t at = next(hole); slots_[at].op_id != 0; at = next(at)) {
      const std::size_t distance_from_home = (at - home(slots_[at].op_id)) & mask();
      if (distance_from_home >= ((at - hole) & mask())) {
        slots_[hole] = slots_[at];
        hole = at;
      }
    }
    slots_[hole] = {};
    --size_;
  }

  std::size_t size() const noexcept { return size_; }

 private:
  struct Slot {
    std::uint64_t op_id = 0;
    std::uint32_t index = kNone;
  };
  static constexpr std::size_t kInitialSlots = 1024;

  std::size_t mask() const noexcept { return slots_.size() - 1; }
  std::size_t next(std::size_t at) const noexcept { return (at + 1) & mask(); }

  /// op_ids count up per thread: operators that start together lie in one or two cache lines, and
  /// the lines are spread by Fibonacci hashing, so that the runs of two threads do not collide.
  std::size_t home(std::uint64_t op_id) const noexcept {
    constexpr std::uint64_t kRun = 8;
    const std::uint64_t run = ((op_id / kRun) * 0x9e3779b97f4a7c15U) >> 32U;
    return static_cast<std::size_t>(run * kRun + op_id % kRun) & mask();
  }

  void place(const Slot& slot) noexcept {
    std::size_t at = home(slot.op_id);
    while (slots_[at].op_id != 0) {
      at = next(at);
    }
    slots_[at] = slot;
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.op_id != 0) {
        place(slot);
      }
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(kInitialSlots);
  std::size_t size_ = 0;
};

}  // namespace torchtrace::analysis
