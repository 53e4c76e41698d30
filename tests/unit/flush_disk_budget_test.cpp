#include <gtest/gtest.h>

#include "flush/ctf/disk_budget.h"
#include "flush/ctf/layout.h"

namespace torchtrace::flush {
namespace {

using config::WhenFull;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
constexpr std::uint64_t kBudget = 64 * kMiB;
const std::vector<std::uint64_t> kNone;

TEST(disk_budget, gives_a_process_small_files_first_and_then_a_sixteenth) {
  const DiskBudget budget{kBudget, WhenFull::kRotate};
  EXPECT_EQ(budget.plan(0, kNone, 0).limit_bytes, kMiB);
  EXPECT_EQ(budget.plan(3 * kMiB, {kMiB, 2 * kMiB}, 3 * kMiB).limit_bytes, 3 * kMiB);
  EXPECT_EQ(budget.plan(30 * kMiB, kNone, 30 * kMiB).limit_bytes, 4 * kMiB);
}

TEST(disk_budget, removes_the_oldest_until_an_eighth_stays_free) {
  const DiskBudget budget{kBudget, WhenFull::kRotate};
  const std::vector<std::uint64_t> files(14, 4 * kMiB);
  EXPECT_EQ(budget.plan(52 * kMiB, files, 100 * kMiB).remove_oldest, 1U);
  EXPECT_EQ(budget.plan(56 * kMiB, files, 100 * kMiB).remove_oldest, 2U);
  EXPECT_EQ(budget.plan(40 * kMiB, files, 100 * kMiB).remove_oldest, 0U);
}

TEST(disk_budget, lets_a_new_process_use_what_the_others_leave_free) {
  const DiskBudget budget{kBudget, WhenFull::kRotate};
  const DiskBudget::NextFile next = budget.plan(kBudget - kMiB / 2, kNone, 0);
  EXPECT_EQ(next.limit_bytes, kMiB / 2 - kCtfPacketBytes);
  EXPECT_EQ(next.remove_oldest, 0U);
}

TEST(disk_budget, removes_nothing_where_even_that_makes_no_room) {
  const DiskBudget budget{kBudget, WhenFull::kRotate};
  const DiskBudget::NextFile next = budget.plan(2 * kBudget, {kMiB, kMiB}, 2 * kMiB);
  EXPECT_EQ(next.limit_bytes, 0U);
  EXPECT_EQ(next.remove_oldest, 0U);
}

TEST(disk_budget, stops_with_room_for_one_packet_only) {
  const DiskBudget budget{kBudget, WhenFull::kStop};
  const std::vector<std::uint64_t> files(14, 4 * kMiB);
  const DiskBudget::NextFile last = budget.plan(kBudget - 3 * kCtfPacketBytes, files, kBudget);
  EXPECT_EQ(last.remove_oldest, 0U);
  EXPECT_EQ(last.limit_bytes, 2 * kCtfPacketBytes);
  EXPECT_EQ(budget.plan(kBudget - kCtfPacketBytes, files, kBudget).limit_bytes, 0U);
  EXPECT_EQ(budget.plan(kBudget + kMiB, files, kBudget).limit_bytes, 0U);
}

TEST(disk_budget, asks_for_whole_packets) {
  const DiskBudget budget{kBudget, WhenFull::kStop};
  EXPECT_EQ(budget.plan(kBudget - 2 * kCtfPacketBytes - 1, kNone, 0).limit_bytes, kCtfPacketBytes);
}

TEST(disk_budget, has_no_bound_if_none_is_set) {
  const DiskBudget budget{0, WhenFull::kStop};
  const DiskBudget::NextFile next = budget.plan(std::uint64_t{1} << 50U, {kMiB}, kMiB);
  EXPECT_GT(next.limit_bytes, kMiB);
  EXPECT_EQ(next.remove_oldest, 0U);
}

}  // namespace
}  // namespace torchtrace::flush
