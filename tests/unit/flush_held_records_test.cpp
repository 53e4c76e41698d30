#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>

#include "flush/held_records.h"

namespace torchtrace::flush {
namespace {

using Held = HeldRecords<&core::Record::t0_ticks>;

core::Record record_due_at(std::uint64_t ticks, std::uint64_t op_id) {
  core::Record record{};
  record.t0_ticks = ticks;
  record.op_id = op_id;
  return record;
}

/// Ids of what is taken, by time.
std::multimap<std::uint64_t, std::uint64_t> take(Held& held, std::uint64_t watermark) {
  std::multimap<std::uint64_t, std::uint64_t> taken;
  held.take(watermark,
            [&](const core::Record& record) { taken.emplace(record.t0_ticks, record.op_id); });
  return taken;
}

TEST(held_records, gives_each_record_once_its_time_has_come) {
  const auto held = std::make_unique<Held>();
  held->add(record_due_at(100, 1));
  held->add(record_due_at(101, 2));
  EXPECT_EQ(held->size(), 2U);
  EXPECT_TRUE(take(*held, 99).empty());
  EXPECT_EQ(take(*held, 100).size(), 1U);
  EXPECT_EQ(held->size(), 1U);
  EXPECT_EQ(take(*held, UINT64_MAX).count(101), 1U);
  EXPECT_EQ(held->size(), 0U);
}

TEST(held_records, keep_what_is_due_before_or_long_after_all_else) {
  const auto held = std::make_unique<Held>();
  constexpr std::uint64_t kNow = std::uint64_t{1} << 50U;
  EXPECT_TRUE(take(*held, kNow).empty());
  held->add(record_due_at(1, 1));
  held->add(record_due_at(kNow * 2, 2));
  held->add(record_due_at(kNow + 1, 3));
  EXPECT_EQ(take(*held, kNow).count(1), 1U);
  EXPECT_EQ(take(*held, kNow + 1).count(kNow + 1), 1U);
  EXPECT_TRUE(take(*held, kNow * 2 - 1).empty());
  EXPECT_EQ(take(*held, kNow * 2).count(kNow * 2), 1U);
}

/// Against a sorted map, with times from within a slice to beyond the calendar.
TEST(held_records, agree_with_a_sorted_map) {
  std::mt19937_64 random(7);
  for (const std::uint64_t span :
       {std::uint64_t{1} << 20U, std::uint64_t{1} << 27U, std::uint64_t{1} << 34U}) {
    const auto held = std::make_unique<Held>();
    std::multimap<std::uint64_t, std::uint64_t> model;
    std::uint64_t now = std::uint64_t{1} << 40U;
    std::uint64_t next_id = 1;
    for (int period = 0; period < 300; ++period) {
      now += random() % span;
      for (std::uint64_t i = random() % 400; i != 0; --i) {
        const std::uint64_t due = now - span + random() % (3 * span);
        held->add(record_due_at(due, next_id));
        model.emplace(due, next_id++);
      }
      const auto end = model.upper_bound(now);
      const std::multimap<std::uint64_t, std::uint64_t> expected(model.begin(), end);
      model.erase(model.begin(), end);
      ASSERT_EQ(take(*held, now), expected);
      ASSERT_EQ(held->size(), model.size());
    }
  }
}

}  // namespace
}  // namespace torchtrace::flush
