#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include "core/ring.h"

namespace torchtrace::core {
namespace {

template <class Index>
struct Ring {
  explicit Ring(Index capacity) : slots(capacity) {
    producer.reset(static_cast<Index>(capacity - 1));
  }

  bool push(int value) {
    if (!producer.has_room() && !producer.find_room(head)) return false;
    slots[producer.slot()] = value;
    producer.publish();
    return true;
  }

  std::vector<int> drain() {
    std::vector<int> got;
    drain_ring(
        slots.data(), producer.mask, producer.tail, head,
        [&](const int* first, std::size_t count) { got.insert(got.end(), first, first + count); });
    return got;
  }

  std::vector<int> slots;
  RingProducer<Index> producer;
  std::atomic<Index> head{0};
};

TEST(ring, holds_exactly_its_capacity) {
  Ring<std::uint64_t> ring(4);
  for (int value = 0; value < 4; ++value) EXPECT_TRUE(ring.push(value));
  EXPECT_FALSE(ring.push(4));
  EXPECT_EQ(ring.drain(), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_TRUE(ring.push(5));
  EXPECT_EQ(ring.drain(), std::vector<int>{5});
  EXPECT_TRUE(ring.drain().empty());
}

/// Random pushes and drains against a queue, long enough to wrap an 8-bit index thousands of times.
class ring_against_reference : public testing::TestWithParam<int> {};

TEST_P(ring_against_reference, wraps_at_8_bits) {
  const auto capacity = static_cast<std::uint8_t>(GetParam());
  Ring<std::uint8_t> ring(capacity);
  std::deque<int> reference;
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  int next = 0;
  for (int step = 0; step < 200000; ++step) {
    if (random() % 3 != 0) {
      const bool has_room = reference.size() < capacity;
      ASSERT_EQ(ring.push(next), has_room) << "at step " << step;
      if (has_room) reference.push_back(next);
      ++next;
    } else if (random() % 8 == 0) {
      ASSERT_EQ(ring.drain(), std::vector<int>(reference.begin(), reference.end()));
      reference.clear();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(capacities, ring_against_reference, testing::Values(1, 2, 8, 64, 128));

TEST(ring, loses_nothing_between_two_threads) {
  constexpr int kPushes = 2'000'000;
  Ring<std::uint64_t> ring(256);
  std::int64_t dropped = 0;
  std::atomic<bool> done{false};
  std::thread producer([&] {
    for (int value = 0; value < kPushes; ++value) {
      if (!ring.push(value)) ++dropped;
    }
    done.store(true);
  });
  std::int64_t got = 0;
  int last = -1;
  for (bool is_last = false; !is_last;) {
    is_last = done.load();
    for (const int value : ring.drain()) {
      ASSERT_GT(value, last);
      last = value;
      ++got;
    }
  }
  producer.join();
  EXPECT_EQ(got + dropped, kPushes);
}

}  // namespace
}  // namespace torchtrace::core
