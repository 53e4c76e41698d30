#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <thread>

#include "core/clock.h"
#include "core/full_ring.h"
#include "core/process.h"

namespace torchtrace::core {
namespace {

constexpr std::uint32_t kConsumerTid = 1;
constexpr std::uint32_t kProducerTid = 2;

/// A ring of two slots with policy `block`, and a consumer that the test plays.
class blocked_thread : public testing::Test {
 protected:
  void SetUp() override {
    static auto* const processes = new std::vector<Process*>;
    processes->push_back(new Process);
    process_ = processes->back();
    process_->consumer.set_thread(kConsumerTid);
    g_process.store(process_);
    header_->ring.reset(1);
    header_->ring_policy = kRingBlock;
    header_->tid = kProducerTid;
    push();
    push();
  }

  void TearDown() override {
    g_process.store(nullptr);
    g_stopped.store(false);
  }

  /// True if there was room.
  bool push() {
    if (!header_->ring.has_room() && !make_room(*header_)) {
      bump(no_room_counter(*header_));
      return false;
    }
    header_->ring.publish();
    return true;
  }

  void drain() {
    header_->head.store(header_->ring.tail.load());
    process_->consumer.has_drained();
  }

  template <class Work>
  static std::uint64_t time_ns(Work&& work) {
    const std::uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);
    work();
    return clock_ns(CLOCK_MONOTONIC) - start_ns;
  }

  std::uint64_t timeouts() const { return header_->dropped_block_timeout.load(); }
  std::uint64_t ring_full() const { return header_->dropped_ring_full.load(); }

  std::unique_ptr<ThreadHeader> header_ = std::make_unique<ThreadHeader>();
  Process* process_ = nullptr;
};

/// The flush thread may wait for a lock that this thread holds.
TEST_F(blocked_thread, goes_on_after_the_bound_and_counts) {
  EXPECT_GE(time_ns([&] { EXPECT_FALSE(push()); }), kBlockLimit_ns);
  EXPECT_EQ(timeouts(), 1U);
  EXPECT_EQ(ring_full(), 0U);
}

TEST_F(blocked_thread, waits_no_more_until_the_consumer_has_moved) {
  push();
  const std::uint64_t again_ns = time_ns([&] {
    for (int count = 0; count < 1000; ++count) push();
  });
  EXPECT_LT(again_ns, 1000 * kBlockLimit_ns / 10);
  EXPECT_EQ(timeouts(), 1001U);
  drain();
  EXPECT_TRUE(push());
  EXPECT_TRUE(push());
  EXPECT_GE(time_ns([&] { EXPECT_FALSE(push()); }), kBlockLimit_ns) << "waits anew";
}

TEST_F(blocked_thread, wakes_the_consumer_and_is_woken_by_it) {
  std::thread consumer([&] {
    while (!process_->consumer.take(kWakeToDrain)) process_->consumer.sleep(1'000'000'000);
    drain();
  });
  EXPECT_TRUE(push());
  consumer.join();
  EXPECT_EQ(timeouts() + ring_full(), 0U);
}

TEST_F(blocked_thread, never_waits_where_nobody_drains) {
  process_->consumer.set_thread(0);
  EXPECT_FALSE(push());
  process_->consumer.set_thread(kProducerTid);  // it is the flush thread itself
  EXPECT_FALSE(push());
  process_->consumer.set_thread(kConsumerTid);
  g_stopped.store(true);
  EXPECT_FALSE(push());
  g_process.store(nullptr);  // a forked child before its first operator
  EXPECT_FALSE(push());
  EXPECT_EQ(ring_full(), 4U);
  EXPECT_EQ(timeouts(), 0U);
}

TEST_F(blocked_thread, goes_on_at_once_when_the_consumer_leaves) {
  std::thread consumer([&] {
    while (!process_->consumer.take(kWakeToDrain)) process_->consumer.sleep(1'000'000'000);
    process_->consumer.set_thread(0);
    process_->consumer.has_drained();
  });
  EXPECT_FALSE(push());
  consumer.join();
  EXPECT_EQ(timeouts() + ring_full(), 1U);
}

TEST_F(blocked_thread, keeps_errno) {
  errno = EXDEV;
  push();
  EXPECT_EQ(errno, EXDEV);
}

}  // namespace
}  // namespace torchtrace::core
