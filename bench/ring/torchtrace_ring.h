#pragma once

#include <atomic>
#include <cstdint>

#include "core/ring.h"
#include "ring/record_source.h"

namespace torchtrace::bench {

/// The product's ring, one per producer, in memory of the bench's own: `core/ring.h` as the op path
/// and the flush thread use it, records written in place.
class TorchtraceRing {
  struct Lane {
    Lane() { producer.reset(kCapacity - 1); }

    alignas(128) core::RingProducer<std::uint64_t> producer;
    alignas(128) std::atomic<std::uint64_t> head{0};
    Records slots = Records(kCapacity);
  };

 public:
  static constexpr const char* kName = "torchtrace";

  explicit TorchtraceRing(std::size_t producers) : lanes_(producers) {}

  class Producer {
   public:
    Producer(TorchtraceRing& ring, std::size_t index) : lane_(ring.lanes_[index]) {}

    bool push(std::uint64_t count) noexcept {
      if (!lane_.producer.has_room() && !lane_.producer.find_room(lane_.head)) return false;
      fill(lane_.slots[lane_.producer.slot()], count);
      lane_.producer.publish();
      return true;
    }

   private:
    Lane& lane_;
  };

  template <class Take>
  void drain(Take&& take) {
    for (Lane& lane : lanes_) {
      core::drain_ring(lane.slots.data(), lane.producer.mask, lane.producer.tail, lane.head, take);
    }
  }

 private:
  std::vector<Lane> lanes_;
};

}  // namespace torchtrace::bench
