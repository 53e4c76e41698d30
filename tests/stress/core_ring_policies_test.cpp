#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "core/full_ring.h"
#include "core/process.h"

namespace torchtrace::core {
namespace {

constexpr std::uint64_t kSlots = 1024;

/// 10^7, or what TORCHTRACE_RING_PUSHES says.
std::uint64_t pushes() {
  const char* given = std::getenv("TORCHTRACE_RING_PUSHES");
  return given == nullptr ? 10'000'000 : std::strtoull(given, nullptr, 10);
}

/// One thread's ring as the op path and the flush thread use it, in memory of its own.
struct Ring {
  explicit Ring(RingPolicy policy) : slots(kSlots) {
    header->ring.reset(kSlots - 1);
    header->ring_policy = policy;
  }

  void push(std::uint64_t value) {
    if (!header->ring.has_room() && !make_room(*header)) return bump(no_room_counter(*header));
    Record& record = slots[header->ring.slot()];
    put(record.t0_ticks, value);
    put(record.op_id, ~value);
    put(record.name_id, static_cast<std::uint32_t>(value));
    header->ring.publish();
  }

  /// Everything in it, oldest first.
  const std::vector<Record>& drain() {
    drained.clear();
    if (header->ring_policy == kRingOverwriteOldest) {
      bump(header->overwritten, salvage_ring(slots.data(), kSlots - 1, header->ring.tail,
                                             header->ring_reserved, header->head, drained));
    } else {
      drain_ring(slots.data(), kSlots - 1, header->ring.tail, header->head,
                 [&](const Record* first, std::size_t count) {
                   drained.insert(drained.end(), first, first + count);
                 });
    }
    return drained;
  }

  std::unique_ptr<ThreadHeader> header = std::make_unique<ThreadHeader>();
  std::vector<Record> slots;
  std::vector<Record> drained;
};

class ring_policies : public testing::TestWithParam<RingPolicy> {};

TEST_P(ring_policies, count_every_push_once) {
  static auto* const process = new Process;
  process->consumer.set_thread(1);
  g_process.store(process);
  Ring ring(GetParam());
  const std::uint64_t count = pushes();
  std::atomic<bool> is_done{false};
  std::thread producer([&] {
    for (std::uint64_t value = 0; value < count; ++value) ring.push(value);
    is_done.store(true);
  });
  std::uint64_t got = 0;
  std::uint64_t next = 0;
  for (bool is_last = false; !is_last;) {
    is_last = is_done.load();
    for (const Record& record : ring.drain()) {
      ASSERT_EQ(record.op_id, ~record.t0_ticks) << "torn";
      ASSERT_EQ(record.name_id, static_cast<std::uint32_t>(record.t0_ticks)) << "torn";
      ASSERT_GE(record.t0_ticks, next);
      next = record.t0_ticks + 1;
      ++got;
    }
    process->consumer.has_drained();
  }
  producer.join();
  g_process.store(nullptr);
  const std::uint64_t lost = ring.header->dropped_ring_full.load() +
                             ring.header->dropped_block_timeout.load() +
                             ring.header->overwritten.load();
  EXPECT_EQ(got + lost, count);
  if (GetParam() == kRingOverwriteOldest) {
    EXPECT_EQ(next, count) << "the newest is there";
  }
  if (GetParam() == kRingBlock) {
    EXPECT_EQ(ring.header->dropped_ring_full.load(), 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(each, ring_policies,
                         testing::Values(kRingDropNewest, kRingOverwriteOldest, kRingBlock));

}  // namespace
}  // namespace torchtrace::core
