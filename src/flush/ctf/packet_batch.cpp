#include "flush/ctf/packet_batch.h"

#include <cstdlib>
#include <cstring>

namespace torchtrace::flush {

void PacketBatch::FreeMemory::operator()(std::byte* memory) const noexcept { std::free(memory); }

bool PacketBatch::allocate() noexcept {
  constexpr std::size_t kBytes = (kCapacity + 1) * kCtfPacketBytes;
  pages_.reset(static_cast<std::byte*>(std::aligned_alloc(kCtfPacketBytes, kBytes)));
  if (!pages_) return false;
  open_.begin(page(0));
  return true;
}

void PacketBatch::complete_open(const CtfUuid& uuid, std::uint64_t sequence_number,
                                std::uint64_t events_discarded) noexcept {
  open_.finish(uuid, sequence_number, events_discarded);
  ++complete_;
  events_[complete_] = 0;
  operators_[complete_] = 0;
  open_.begin(page(complete_));
}

void PacketBatch::clear_complete() noexcept {
  if (complete_ == 0) return;
  std::memcpy(page(0), page(complete_), kCtfPacketBytes);
  open_.move_to(page(0));
  events_[0] = events_[complete_];
  operators_[0] = operators_[complete_];
  complete_ = 0;
}

PacketBatch::Tally PacketBatch::tally_from(std::size_t first) const noexcept {
  Tally sum;
  for (std::size_t i = first; i <= complete_; ++i) {
    sum.events += events_[i];
    sum.operators += operators_[i];
  }
  return sum;
}

}  // namespace torchtrace::flush
