#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "analysis/coverage.h"
#include "analysis/durations.h"
#include "analysis/name_table.h"
#include "analysis/op_table.h"
#include "core/record.h"

namespace torchtrace::analysis {
namespace {

Durations durations_of(const std::vector<std::uint64_t>& values) {
  Durations durations;
  for (const std::uint64_t value : values) {
    durations.add(value);
  }
  return durations;
}

TEST(durations, of_nothing_are_zero) {
  Durations none;
  EXPECT_EQ(none.count(), 0U);
  EXPECT_EQ(none.min_ns(), 0U);
  EXPECT_EQ(none.mean_ns(), 0.0);
  EXPECT_EQ(none.percentile_ns(50), 0U);
}

TEST(durations, know_their_extremes_sum_and_mean) {
  const Durations durations = durations_of({30, 10, 20, 0, 41});
  EXPECT_EQ(durations.count(), 5U);
  EXPECT_EQ(durations.total_ns(), 101U);
  EXPECT_EQ(durations.min_ns(), 0U);
  EXPECT_EQ(durations.max_ns(), 41U);
  EXPECT_DOUBLE_EQ(durations.mean_ns(), 20.2);
}

TEST(durations, have_nearest_rank_percentiles) {
  EXPECT_EQ(durations_of({7}).percentile_ns(1), 7U);
  EXPECT_EQ(durations_of({7}).percentile_ns(99), 7U);
  EXPECT_EQ(durations_of({4, 1, 3, 2}).percentile_ns(50), 2U);
  EXPECT_EQ(durations_of({5, 1, 3, 2, 4}).percentile_ns(50), 3U);
  EXPECT_EQ(durations_of({4, 1, 3, 2}).percentile_ns(99), 4U);
}

TEST(durations, have_percentiles_that_their_definition_gives) {
  std::mt19937 random(1);
  for (std::size_t count = 1; count < 450; count += 7) {
    std::vector<std::uint64_t> values(count);
    std::generate(values.begin(), values.end(), [&random] { return random() % 1000; });
    Durations durations = durations_of(values);
    std::sort(values.begin(), values.end());
    for (const unsigned percent : {1U, 50U, 90U, 99U, 100U}) {
      // The smallest value such that at least `percent` % of all are not above it.
      std::size_t rank = 1;
      while (rank * 100 < count * percent) {
        ++rank;
      }
      ASSERT_EQ(durations.percentile_ns(percent), values[rank - 1]) << percent << " % of " << count;
    }
  }
}

/// A set of small times, one by one: what Coverage must agree with.
class SlowCoverage {
 public:
  void add(std::uint64_t start, std::uint64_t end) {
    for (std::uint64_t t = start; t < end; ++t) {
      covered_.insert(t);
    }
  }
  std::uint64_t within(std::uint64_t start, std::uint64_t end) const {
    return end <= start ? 0
                        : static_cast<std::uint64_t>(std::distance(covered_.lower_bound(start),
                                                                   covered_.lower_bound(end)));
  }

 private:
  std::set<std::uint64_t> covered_;
};

TEST(coverage, is_the_union_of_what_was_added_in_any_order) {
  std::mt19937 random(2);
  CoveragePool pool;
  for (int round = 0; round < 300; ++round) {
    Coverage set;
    SlowCoverage slow;
    for (int i = 0; i < 20; ++i) {
      const std::uint64_t start = random() % 100;
      const std::uint64_t end = start + random() % 12;
      pool.add(set, start, end);
      slow.add(start, end);
    }
    ASSERT_EQ(pool.take_within(set, 20, 70), slow.within(20, 70)) << "round " << round;
    ASSERT_TRUE(set.empty());
  }
}

TEST(coverage, gives_up_what_lies_before_a_time) {
  CoveragePool pool;
  Coverage set;
  pool.add(set, 0, 10);
  pool.add(set, 20, 30);
  pool.add(set, 40, 50);
  EXPECT_EQ(pool.take_before(set, 30, 25), 10U + 5U) << "only up to the limit";
  EXPECT_EQ(pool.take_before(set, 49, UINT64_MAX), 0U) << "what reaches beyond stays";
  EXPECT_EQ(pool.take_within(set, 0, UINT64_MAX), 10U);
}

TEST(coverage, moves_into_another) {
  CoveragePool pool;
  Coverage from;
  Coverage to;
  pool.add(from, 0, 10);
  pool.add(from, 20, 30);
  pool.add(to, 5, 22);
  pool.move_all(from, to);
  EXPECT_TRUE(from.empty());
  EXPECT_EQ(pool.take_within(to, 0, 100), 30U);
}

TEST(op_table, finds_what_is_in_it_through_any_growth_and_removal) {
  std::mt19937 random(3);
  OpTable table;
  std::map<std::uint64_t, std::uint32_t> truth;
  std::vector<std::uint64_t> counts(5, 0);
  for (std::uint32_t step = 0; step < 60'000; ++step) {
    if (truth.size() < 100 || random() % 100 < (step < 30'000 ? 60U : 45U)) {
      const std::uint32_t slot = random() % counts.size();
      const std::uint64_t op_id = core::OpId::make(slot, ++counts[slot]);
      table.insert(op_id, step);
      truth.emplace(op_id, step);
    } else {
      auto gone = truth.begin();
      std::advance(gone, random() % 50);
      table.erase(gone->first);
      truth.erase(gone);
    }
    ASSERT_EQ(table.size(), truth.size());
  }
  for (const auto& [op_id, index] : truth) {
    ASSERT_EQ(table.find(op_id), index);
  }
  EXPECT_EQ(table.find(core::OpId::make(7, 7)), OpTable::kNone);
  EXPECT_EQ(table.find(0), OpTable::kNone);
}

TEST(op_table, ignores_the_removal_of_what_it_does_not_hold) {
  OpTable table;
  table.insert(1, 10);
  table.erase(2);
  EXPECT_EQ(table.find(1), 10U);
  EXPECT_EQ(table.size(), 1U);
}

TEST(name_table, gives_each_name_one_number) {
  NameTable names;
  EXPECT_EQ(names.number("aten::add.Tensor"), 0U);
  EXPECT_EQ(names.number("aten::mm"), 1U);
  EXPECT_EQ(names.number(std::string("aten::add.Tensor")), 0U);
  EXPECT_EQ(names.name(1), "aten::mm");
  EXPECT_EQ(names.size(), 2U);
}

}  // namespace
}  // namespace torchtrace::analysis
