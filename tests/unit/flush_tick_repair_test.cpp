#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "flush/tick_repair.h"

namespace torchtrace::flush {
namespace {

using core::kFallbackTick;
using core::OpId;

/// 2 ticks per ns; the last good look at 51'000 ticks, the switch 100 ns later.
constexpr core::ClockSwitch kPoint{51'000, 51'200, 600, 2.0};
constexpr std::uint64_t kMiddle = 51'100;

core::Record record(std::uint64_t count, std::uint64_t t0, std::uint64_t t1) {
  core::Record record{};
  record.op_id = OpId::make(1, count);
  record.t0_ticks = t0;
  record.t1_ticks = t1;
  return record;
}

core::Record repaired(core::Record record, bool ends_are_new = true) {
  TickRepair(kPoint, TickRepair::Starts{{1, 5}}, ends_are_new).repair(record);
  return record;
}

TEST(tick_repair, goes_on_where_the_counter_would_be) {
  const core::Record after = repaired(record(9, 600 | kFallbackTick, 650 | kFallbackTick));
  EXPECT_EQ(after.t0_ticks, 51'200U);
  EXPECT_EQ(after.t1_ticks, 51'300U);
  EXPECT_EQ(after.flags, 0);
}

TEST(tick_repair, an_operator_that_was_open_keeps_its_start_and_its_end) {
  const core::Record open = repaired(record(3, 400, 700 | kFallbackTick));
  EXPECT_EQ(open.t0_ticks, 400U);
  EXPECT_EQ(open.t1_ticks, 51'400U);
  EXPECT_EQ(open.flags, 0);
}

TEST(tick_repair, what_nobody_knows_is_in_the_middle_and_says_so) {
  for (const std::uint64_t shown : {51'010U, 900'000U, 3U}) {
    const core::Record lost = repaired(record(6, shown, shown + 5));
    EXPECT_EQ(lost.t0_ticks, kMiddle);
    EXPECT_EQ(lost.t1_ticks, kMiddle);
    EXPECT_EQ(lost.flags, core::kFlagClockStepped);
    const core::Record ended = repaired(record(3, 400, shown));
    EXPECT_EQ(ended.t0_ticks, 400U);
    EXPECT_EQ(ended.t1_ticks, kMiddle);
    EXPECT_EQ(ended.flags, core::kFlagClockStepped);
    const core::Record left = repaired(record(6, shown, 700 | kFallbackTick));
    EXPECT_EQ(left.t0_ticks, kMiddle);
    EXPECT_EQ(left.t1_ticks, 51'400U);
    EXPECT_EQ(left.flags, core::kFlagClockStepped);
  }
}

TEST(tick_repair, old_records_of_a_ring_stay_as_they_are) {
  const core::Record old = repaired(record(2, 300, 310), false);
  EXPECT_EQ(old.t0_ticks, 300U);
  EXPECT_EQ(old.t1_ticks, 310U);
  EXPECT_EQ(old.flags, 0);
}

TEST(tick_repair, an_open_operator_and_its_record_agree) {
  const TickRepair repair(kPoint, TickRepair::Starts{{1, 5}}, true);
  for (const std::uint64_t count : {4U, 6U}) {
    core::OpenOpCopy open{};
    open.op_id = OpId::make(1, count);
    open.t0_ticks = 51'700;
    repair.repair(open);
    EXPECT_EQ(open.t0_ticks, repaired(record(count, 51'700, 51'710)).t0_ticks);
  }
}

/// Random trees of one thread, the counter stepping at a random moment: whatever it shows, nobody
/// ends before the start or reaches out of the one around.
class tick_repair_of_trees : public testing::TestWithParam<unsigned> {
 protected:
  struct Op {
    core::Record record;
    std::size_t parent;
  };

  std::uint64_t stamp() {
    now_ += 1 + random_() % 40;
    if (now_ >= 51'200) return (600 + (now_ - 51'200) / 2) | kFallbackTick;
    return now_ >= step_at_ ? now_ + step_ : now_;
  }
  bool is_before_look() const { return now_ <= 51'000; }

  void grow(std::size_t parent, int depth) {
    const std::size_t mine = ops_.size();
    ops_.push_back({record(mine + 1, 0, 0), parent});
    ops_[mine].record.t0_ticks = stamp();
    if (is_before_look()) started_ = mine + 1;
    for (unsigned children = depth < 4 ? random_() % 4 : 0; children != 0; --children) {
      grow(mine, depth + 1);
    }
    ops_[mine].record.t1_ticks = stamp();
    is_new_.resize(ops_.size());
    is_new_[mine] = !is_before_look();
  }

  std::mt19937 random_{GetParam()};
  std::uint64_t now_ = 50'100;
  std::uint64_t step_at_ = 51'001 + random_() % 199;
  std::uint64_t step_ = (random_() % 2 == 0 ? 1 : -1) * (std::uint64_t{random_()} % 5000);
  std::uint64_t started_ = 0;
  std::vector<Op> ops_;
  std::vector<bool> is_new_;
};

TEST_P(tick_repair_of_trees, keeps_order_and_nesting) {
  while (now_ < 52'500) grow(SIZE_MAX, 0);
  const TickRepair repair(kPoint, TickRepair::Starts{{1, started_}}, true);
  for (std::size_t at = 0; at < ops_.size(); ++at) {
    if (is_new_[at]) repair.repair(ops_[at].record);  // others were drained before the switch
  }
  std::uint64_t last_start = 0;
  for (const Op& op : ops_) {
    ASSERT_LE(op.record.t0_ticks, op.record.t1_ticks);
    ASSERT_GE(op.record.t0_ticks, last_start) << "in the order of their start";
    last_start = op.record.t0_ticks;
    if (op.parent == SIZE_MAX) continue;
    ASSERT_GE(op.record.t0_ticks, ops_[op.parent].record.t0_ticks);
    ASSERT_LE(op.record.t1_ticks, ops_[op.parent].record.t1_ticks);
  }
}

INSTANTIATE_TEST_SUITE_P(seeds, tick_repair_of_trees, testing::Range(1U, 301U));

}  // namespace
}  // namespace torchtrace::flush
