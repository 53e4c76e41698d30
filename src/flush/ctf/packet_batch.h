#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "flush/ctf/packet.h"

namespace torchtrace::flush {

/// Packets in memory: some that are complete and wait to be written together, then one that is
/// open. Knows how many events, and how many operators among them, each holds.
///
/// Thread: one. Errors: nothing throws; `allocate` says if there is no memory.
class PacketBatch {
 public:
  /// Complete packets that one write takes: 256 KiB. In writes of 64 KiB a page costs the kernel
  /// half as much again; more than 256 KiB would leave the second-level cache.
  static constexpr std::size_t kCapacity = 64;

  struct Tally {
    std::uint64_t events = 0;
    std::uint64_t operators = 0;
  };

  bool allocate() noexcept;

  /// Appends to the open packet; false if it has no room (an empty one always has).
  template <typename Event>
  bool append(const Event& event, std::uint64_t header_ts_ns, bool is_operator) noexcept {
    if (!open_.append(event, header_ts_ns)) return false;
    ++events_[complete_];
    operators_[complete_] += is_operator ? 1 : 0;
    return true;
  }

  /// Completes the open packet and opens the next. The batch must not be full.
  void complete_open(const CtfUuid& uuid, std::uint64_t sequence_number,
                     std::uint64_t events_discarded) noexcept;

  /// Forgets the complete packets, which have been written or given up; the open one stays.
  void clear_complete() noexcept;

  bool open_is_empty() const noexcept { return open_.empty(); }
  bool full() const noexcept { return complete_ == kCapacity; }
  std::size_t complete() const noexcept { return complete_; }
  const std::byte* packets() const noexcept { return pages_.get(); }
  const std::uint32_t* operators() const noexcept { return operators_.data(); }

  /// What the complete packets from `first` on and the open one hold.
  Tally tally_from(std::size_t first) const noexcept;

 private:
  struct FreeMemory {
    void operator()(std::byte* memory) const noexcept;
  };

  std::byte* page(std::size_t index) noexcept { return pages_.get() + index * kCtfPacketBytes; }

  std::unique_ptr<std::byte, FreeMemory> pages_;  ///< Page-aligned: see StreamFile::append.
  CtfPacket open_;
  std::size_t complete_ = 0;
  std::array<std::uint32_t, kCapacity + 1> operators_{};
  std::array<std::uint32_t, kCapacity + 1> events_{};
};

}  // namespace torchtrace::flush
