#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "core/full_ring.h"
#include "core/ring.h"

namespace torchtrace::core {
namespace {

/// Two words that agree, unless a copy of them is torn.
struct Element {
  std::uint64_t value;
  std::uint64_t inverse;
};

/// A ring that overwrites, whose producer and consumer are run step by step, one thread being both:
/// a step is a store or a load that the other side may come behind.
class SteppedRing {
 public:
  SteppedRing(std::uint8_t capacity, std::uint8_t batch) : batch_(batch), slots_(capacity) {
    producer_.reset(static_cast<std::uint8_t>(capacity - 1));
  }

  void producer_step() {
    if (producer_step_ == 0 && !producer_.has_room()) {
      if (distance_to_head() > 255 - batch_) return;  // further than an 8-bit index can tell
      producer_.take_oldest(reserved_, batch_);
      return;
    }
    Element& slot = slots_[producer_.slot()];
    if (producer_step_ == 0) put(slot.value, pushed_);
    if (producer_step_ == 1) put(slot.inverse, ~pushed_);
    if (producer_step_ == 2) producer_.publish();
    if (producer_step_ == 2) ++pushed_;
    producer_step_ = (producer_step_ + 1) % 3;
  }

  void consumer_step() {
    if (!is_draining_) {
      salvage_ = RingSalvage<std::uint8_t>::begin(producer_.mask, producer_.tail, reserved_, head_);
      copies_.assign(salvage_.count(), {});
      is_draining_ = true;
      consumer_step_ = 0;
    } else if (consumer_step_ < 2 * copies_.size()) {
      const Element& slot = slots_[(salvage_.first + consumer_step_ / 2) & producer_.mask];
      Element& copy = copies_[consumer_step_ / 2];
      if (consumer_step_ % 2 == 0) copy.value = slot.value;
      if (consumer_step_ % 2 == 1) copy.inverse = slot.inverse;
      ++consumer_step_;
    } else {
      end_drain();
    }
  }

  void finish() {
    while (producer_step_ != 0) producer_step();
    while (is_draining_) consumer_step();
    do consumer_step();
    while (is_draining_);
  }

  std::uint64_t pushed() const { return pushed_; }
  std::uint64_t lost() const { return lost_; }
  const std::vector<Element>& got() const { return got_; }

 private:
  int distance_to_head() const {
    return static_cast<std::uint8_t>(producer_.tail.load() + batch_ - head_.load());
  }

  void end_drain() {
    const std::size_t torn = salvage_.torn(reserved_);
    got_.insert(got_.end(), copies_.begin() + static_cast<std::ptrdiff_t>(torn), copies_.end());
    lost_ += salvage_.lost;
    head_.store(salvage_.end);
    is_draining_ = false;
  }

  std::uint8_t batch_;
  std::vector<Element> slots_;
  RingProducer<std::uint8_t> producer_;
  std::atomic<std::uint8_t> reserved_{0};
  std::atomic<std::uint8_t> head_{0};
  std::uint64_t pushed_ = 0;
  unsigned producer_step_ = 0;
  bool is_draining_ = false;
  RingSalvage<std::uint8_t> salvage_{};
  std::vector<Element> copies_;
  std::size_t consumer_step_ = 0;
  std::uint64_t lost_ = 0;
  std::vector<Element> got_;
};

struct Shape {
  std::uint8_t capacity;
  std::uint8_t batch;
};

class overwriting_ring_against_reference : public testing::TestWithParam<Shape> {};

/// Every value counts once, as got or as lost; what is got is whole and in order.
TEST_P(overwriting_ring_against_reference, wraps_at_8_bits_in_any_interleaving) {
  SteppedRing ring(GetParam().capacity, GetParam().batch);
  std::mt19937 random(GetParam().capacity);
  // Now the one side is ahead, now the other, and sometimes for long.
  for (int phase = 0; phase < 20000; ++phase) {
    const unsigned bias = 1 + random() % 15;
    for (unsigned step = random() % 60; step != 0; --step) {
      if (random() % 16 < bias) {
        ring.producer_step();
      } else {
        ring.consumer_step();
      }
    }
  }
  ring.finish();
  ASSERT_GT(ring.pushed(), 10000U);
  EXPECT_GT(ring.lost(), 0U);
  EXPECT_EQ(ring.got().size() + ring.lost(), ring.pushed());
  std::uint64_t next = 0;
  for (const Element& element : ring.got()) {
    ASSERT_EQ(element.inverse, ~element.value) << "torn";
    ASSERT_GE(element.value, next);
    next = element.value + 1;
  }
  EXPECT_EQ(next, ring.pushed()) << "the newest is never lost while the producer rests";
}

INSTANTIATE_TEST_SUITE_P(shapes, overwriting_ring_against_reference,
                         testing::Values(Shape{2, 1}, Shape{8, 2}, Shape{16, 4}, Shape{64, 16},
                                         Shape{128, 64}));

TEST(ring, holds_all_but_a_batch_of_its_capacity_where_it_overwrites) {
  SteppedRing ring(16, 4);
  for (int step = 0; step < 400; ++step) ring.producer_step();
  ring.finish();
  EXPECT_GE(ring.got().size(), 12U);
  EXPECT_LE(ring.got().size(), 16U);
  EXPECT_EQ(ring.got().back().value + 1, ring.pushed());
}

/// What `recover` relies on.
TEST(ring, knows_after_death_which_records_are_whole) {
  ThreadHeader header{};
  header.ring.reset(63);
  header.ring_policy = kRingOverwriteOldest;
  header.ring.tail.store(40);
  EXPECT_EQ(first_whole_record(header), 0U);
  header.ring.tail.store(64);
  EXPECT_EQ(first_whole_record(header), 1U);
  header.ring.tail.store(1000);
  EXPECT_EQ(first_whole_record(header), 1000U - 63U);
  header.head.store(990);
  EXPECT_EQ(first_whole_record(header), 990U);
}

}  // namespace
}  // namespace torchtrace::core
