#pragma once

#include <cstdint>

#include "core/process.h"

namespace torchtrace::bench {

/// An op thread without PyTorch: pushes the records that a call tree of operators would leave, a
/// parent around two children, through the core's own ring. Thread: the one that made it.
class SyntheticProducer {
 public:
  /// Errors: throws std::runtime_error if the thread gets no buffer.
  explicit SyntheticProducer(core::Process& process);

  /// Pushes `count` records; what finds the ring full is counted as dropped, as on the op path.
  void push(std::uint64_t count) noexcept;

  /// Same, but waits for the consumer where the ring is full.
  void push_all(std::uint64_t count) noexcept;

  std::uint64_t ring_slots() const noexcept { return buffer_->header.ring.mask + 1; }

 private:
  static constexpr std::uint32_t kNames = 16;

  static constexpr std::uint32_t kTreeSize = 3;

  std::uint64_t next_op_id() noexcept;
  bool has_room() noexcept;
  void push_one() noexcept;

  core::ThreadBuffer* buffer_;
  std::uint32_t name_ids_[kNames];
  std::uint64_t parent_t0_ticks_ = 0;
  std::uint64_t parent_op_id_ = 0;
  std::uint32_t ended_ = 0;  ///< Of the present tree: the children first, the parent last.
};

}  // namespace torchtrace::bench
