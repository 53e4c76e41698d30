#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "analysis/self_time.h"

namespace torchtrace::analysis {
namespace {

constexpr std::uint64_t kHoldNs = 1000;

/// Collects the self time of every operator, by op_id.
class SelfTimes final : public SelfTimeTracker::Listener {
 public:
  void on_self_time(const TrackedOp& op, std::uint64_t self_ns) override {
    const bool is_first = by_op_.emplace(op.op_id, self_ns).second;
    EXPECT_TRUE(is_first) << "two self times for operator " << op.op_id;
  }
  const std::map<std::uint64_t, std::uint64_t>& by_op() const { return by_op_; }

 private:
  std::map<std::uint64_t, std::uint64_t> by_op_;
};

TrackedOp make_op(std::uint64_t op_id, std::uint64_t parent, std::uint64_t start_ns,
                  std::uint64_t end_ns) {
  TrackedOp op;
  op.op_id = op_id;
  op.parent = parent;
  op.start_ns = start_ns;
  op.end_ns = end_ns;
  return op;
}

using Expected = std::map<std::uint64_t, std::uint64_t>;

Expected self_times_of(const std::vector<TrackedOp>& ops) {
  SelfTimes times;
  SelfTimeTracker tracker(times);
  for (const TrackedOp& op : ops) {
    tracker.add(op);
  }
  tracker.finish();
  return times.by_op();
}

TEST(self_time, is_the_duration_without_the_direct_children) {
  EXPECT_EQ(self_times_of({make_op(1, 0, 0, 100), make_op(2, 1, 10, 40), make_op(3, 2, 20, 30),
                           make_op(4, 1, 50, 60)}),
            (Expected{{1, 60}, {2, 20}, {3, 10}, {4, 10}}));
}

TEST(self_time, clips_a_child_that_outlives_its_parent) {
  EXPECT_EQ(self_times_of({make_op(1, 0, 0, 100), make_op(2, 1, 80, 500)}),
            (Expected{{1, 80}, {2, 420}}));
}

TEST(self_time, counts_once_what_two_children_cover) {
  EXPECT_EQ(self_times_of({make_op(1, 0, 0, 100), make_op(2, 1, 10, 60), make_op(3, 1, 40, 80)}),
            (Expected{{1, 30}, {2, 50}, {3, 40}}));
}

TEST(self_time, is_zero_where_children_cover_everything) {
  EXPECT_EQ(self_times_of({make_op(1, 0, 0, 10), make_op(2, 1, 0, 10), make_op(3, 1, 0, 10)}),
            (Expected{{1, 0}, {2, 10}, {3, 10}}));
}

TEST(self_time, joins_begin_and_end) {
  SelfTimes times;
  SelfTimeTracker tracker(times);
  EXPECT_TRUE(tracker.begin(make_op(1, 0, 0, 0)));
  EXPECT_TRUE(tracker.add(make_op(2, 1, 10, 30)));
  EXPECT_TRUE(tracker.end(make_op(1, 0, 0, 100), true));
  tracker.finish();
  EXPECT_EQ(times.by_op(), (Expected{{1, 80}, {2, 20}}));
}

TEST(self_time, takes_a_repeated_begin_once) {
  SelfTimes times;
  SelfTimeTracker tracker(times);
  EXPECT_TRUE(tracker.begin(make_op(1, 0, 0, 0)));
  EXPECT_TRUE(tracker.begin(make_op(2, 1, 5, 0)));
  EXPECT_FALSE(tracker.begin(make_op(1, 0, 0, 0)));
  EXPECT_FALSE(tracker.begin(make_op(2, 1, 5, 0)));
  EXPECT_TRUE(tracker.end(make_op(2, 1, 5, 25), true));
  EXPECT_TRUE(tracker.end(make_op(1, 0, 0, 100), true));
  EXPECT_FALSE(tracker.end(make_op(1, 0, 0, 100), true));
  tracker.finish();
  EXPECT_EQ(times.by_op(), (Expected{{1, 80}, {2, 20}}));
}

TEST(self_time, takes_a_repeated_operator_once) {
  SelfTimes times;
  SelfTimeTracker tracker(times);
  EXPECT_TRUE(tracker.add(make_op(1, 0, 0, 10)));
  EXPECT_FALSE(tracker.add(make_op(1, 0, 0, 10)));
  EXPECT_FALSE(tracker.begin(make_op(1, 0, 0, 0)));
  tracker.finish();
  EXPECT_EQ(times.by_op(), (Expected{{1, 10}}));
}

TEST(self_time, keeps_an_operator_that_takes_longer_than_the_grace_time) {
  SelfTimes times;
  SelfTimeTracker tracker(times, 10);
  tracker.add(make_op(1, 0, 0, 1000));
  for (std::uint64_t i = 1; i < 100; ++i) {
    tracker.add(make_op(i + 1, 1, i * 10, i * 10 + 5));
  }
  tracker.finish();
  EXPECT_EQ(times.by_op().at(1), 1000U - 99 * 5);
  EXPECT_EQ(tracker.missing_parents(), 0U);
}

TEST(self_time, knows_an_end_whose_begin_is_lost) {
  SelfTimes times;
  SelfTimeTracker tracker(times);
  tracker.add(make_op(2, 1, 10, 30));
  EXPECT_TRUE(tracker.end(make_op(1, 0, 0, 100), true));
  tracker.finish();
  EXPECT_EQ(times.by_op(), (Expected{{1, 80}, {2, 20}}));
  EXPECT_EQ(tracker.missing_parents(), 0U);
}

TEST(self_time, lists_what_has_not_ended) {
  SelfTimes times;
  SelfTimeTracker tracker(times);
  tracker.begin(make_op(1, 0, 0, 0));
  tracker.begin(make_op(2, 1, 5, 0));
  tracker.add(make_op(3, 2, 6, 9));
  tracker.finish();
  EXPECT_EQ(times.by_op(), (Expected{{3, 3}}));
  ASSERT_EQ(tracker.open_ops().size(), 2U);
  EXPECT_EQ(tracker.open_ops()[0].op_id, 1U);
  EXPECT_EQ(tracker.open_ops()[1].op_id, 2U);
}

TEST(self_time, gives_what_is_left_out_to_the_operator_around_it) {
  SelfTimes times;
  SelfTimeTracker tracker(times);
  tracker.begin(make_op(1, 0, 0, 0));
  tracker.begin(make_op(2, 1, 10, 0));
  tracker.add(make_op(3, 2, 20, 30));
  EXPECT_TRUE(tracker.end(make_op(2, 1, 10, 90), false));
  tracker.end(make_op(1, 0, 0, 100), true);
  tracker.finish();
  EXPECT_EQ(times.by_op(), (Expected{{1, 90}, {3, 10}}));
}

TEST(self_time, counts_parents_that_never_come) {
  SelfTimes times;
  SelfTimeTracker tracker(times);
  tracker.add(make_op(3, 2, 20, 30));
  tracker.add(make_op(4, 2, 40, 50));
  tracker.finish();
  EXPECT_EQ(times.by_op(), (Expected{{3, 10}, {4, 10}}));
  EXPECT_EQ(tracker.missing_parents(), 1U);
}

TEST(self_time, covers_a_long_operator_with_a_child_that_is_still_open_at_its_end) {
  SelfTimes times;
  SelfTimeTracker tracker(times);
  tracker.begin(make_op(1, 0, 0, 0));
  tracker.begin(make_op(2, 1, 40, 0));
  tracker.end(make_op(1, 0, 0, 100), true);
  tracker.finish();
  EXPECT_EQ(times.by_op(), (Expected{{1, 40}}));
}

TEST(self_time, holds_no_more_than_what_starts_within_the_grace_time) {
  SelfTimes times;
  SelfTimeTracker tracker(times);
  tracker.begin(make_op(1, 0, 0, 0));
  constexpr std::uint64_t kStepNs = 1'000'000;
  constexpr std::uint64_t kGraceNs = 100'000'000;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    tracker.add(make_op(i + 2, 1, i * kStepNs, i * kStepNs + kStepNs / 2));
    ASSERT_LE(tracker.held(), kGraceNs / kStepNs + 4) << "after " << i << " operators";
  }
  tracker.end(make_op(1, 0, 0, 100'000 * kStepNs), true);
  tracker.finish();
  EXPECT_EQ(times.by_op().at(1), 100'000 * kStepNs / 2);
}

/// A random run: operators of several threads as a stream of events, and their self times computed
/// the slow way.
class RandomRun {
 public:
  explicit RandomRun(unsigned seed) : random_(seed) {
    for (std::uint64_t thread = 0; thread < 3; ++thread) {
      grow(0, kNobody, pick(0, 500), 200'000, 0);
    }
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      emit(i);
    }
    std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
      return a.emitted_ns != b.emitted_ns ? a.emitted_ns < b.emitted_ns : a.rank < b.rank;
    });
  }

  void play(SelfTimeTracker& tracker) const {
    for (const Event& event : events_) {
      const Op& op = ops_[event.op];
      if (event.kind == Kind::kOp) {
        ASSERT_TRUE(tracker.add(op.tracked));
      } else if (event.kind == Kind::kBegin) {
        ASSERT_TRUE(tracker.begin(op.tracked));
      } else {
        ASSERT_TRUE(tracker.end(op.tracked, op.is_recorded));
      }
    }
  }

  Expected expected() const {
    Expected self;
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      if (ops_[i].is_recorded) {
        self[ops_[i].tracked.op_id] =
            ops_[i].tracked.end_ns - ops_[i].tracked.start_ns - covered_by_children(i);
      }
    }
    return self;
  }

 private:
  static constexpr std::size_t kNobody = SIZE_MAX;
  enum class Kind { kOp, kBegin, kEnd };
  struct Op {
    TrackedOp tracked;
    std::size_t parent;  ///< Index, or kNobody.
    bool is_async;
    bool is_recorded = true;
  };
  struct Event {
    std::uint64_t emitted_ns;
    std::uint64_t rank;  ///< Among those of one time: parents begin first and end last.
    std::size_t op;
    Kind kind;
  };

  std::uint64_t pick(std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random_);
  }

  /// Adds an operator at `start_ns` that ends by `limit_ns` (later if asynchronous), and its
  /// children.
  std::uint64_t grow(std::uint64_t parent_id, std::size_t parent, std::uint64_t start_ns,
                     std::uint64_t limit_ns, int depth) {
    const std::size_t index = ops_.size();
    const std::uint64_t op_id = index + 1;
    const bool is_async = depth > 0 && pick(0, 9) == 0;
    ops_.push_back({make_op(op_id, parent_id, start_ns, 0), parent, is_async});
    const std::uint64_t room = limit_ns - start_ns;
    std::uint64_t now = start_ns + pick(0, 20);
    while (depth < 6 && pick(0, 3) != 0 && now < limit_ns) {
      now = grow(op_id, index, now, now + pick(0, (limit_ns - now) / (depth == 0 ? 8 : 2)),
                 depth + 1) +
            pick(0, 30);
    }
    const std::uint64_t end_ns = std::max(start_ns + pick(0, room / 16), std::min(now, limit_ns));
    ops_[index].tracked.end_ns = is_async ? end_ns + pick(0, 4 * kHoldNs) : end_ns;
    return is_async ? start_ns + pick(0, end_ns - start_ns) : end_ns;
  }

  void emit(std::size_t index) {
    Op& op = ops_[index];
    const std::uint64_t start_ns = op.tracked.start_ns;
    const std::uint64_t end_ns = op.tracked.end_ns;
    if (end_ns - start_ns > kHoldNs) {
      op.is_recorded = has_async_neighbour(index) || pick(0, 9) != 0;
      events_.push_back({start_ns, index, index, Kind::kBegin});
      events_.push_back({end_ns, UINT64_MAX - index, index, Kind::kEnd});
    } else {
      const std::uint64_t delay_ns = pick(0, 19) == 0 ? pick(0, kHoldNs / 2) : 0;
      events_.push_back({start_ns + delay_ns, index, index, Kind::kOp});
    }
  }

  /// Whether the operator, a child or a sibling is asynchronous: what is left out beside one of
  /// these is only estimated, see SelfTimeTracker::end.
  bool has_async_neighbour(std::size_t index) const {
    const std::size_t parent = ops_[index].parent;
    return std::any_of(ops_.begin(), ops_.end(), [=](const Op& op) {
      return op.is_async && (op.parent == index || op.parent == parent);
    });
  }

  std::size_t recorded_parent(std::size_t index) const {
    std::size_t parent = ops_[index].parent;
    while (parent != kNobody && !ops_[parent].is_recorded) {
      parent = ops_[parent].parent;
    }
    return parent;
  }

  std::uint64_t covered_by_children(std::size_t index) const {
    const TrackedOp& around = ops_[index].tracked;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> parts;
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      if (ops_[i].is_recorded && recorded_parent(i) == index) {
        parts.emplace_back(std::max(ops_[i].tracked.start_ns, around.start_ns),
                           std::min(ops_[i].tracked.end_ns, around.end_ns));
      }
    }
    std::sort(parts.begin(), parts.end());
    std::uint64_t covered_ns = 0;
    std::uint64_t reached_ns = 0;
    for (const auto& [start_ns, end_ns] : parts) {
      const std::uint64_t from_ns = std::max(start_ns, reached_ns);
      covered_ns += end_ns > from_ns ? end_ns - from_ns : 0;
      reached_ns = std::max(reached_ns, end_ns);
    }
    return covered_ns;
  }

  std::mt19937 random_;
  std::vector<Op> ops_;
  std::vector<Event> events_;
};

TEST(self_time, equals_the_slow_computation_on_random_trees) {
  std::size_t operators = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    const RandomRun run(seed);
    SelfTimes times;
    SelfTimeTracker tracker(times, kHoldNs);
    ASSERT_NO_FATAL_FAILURE(run.play(tracker)) << "seed " << seed;
    tracker.finish();
    ASSERT_EQ(times.by_op(), run.expected()) << "seed " << seed;
    ASSERT_EQ(tracker.missing_parents(), 0U) << "seed " << seed;
    operators += times.by_op().size();
  }
  EXPECT_GT(operators, 10'000U) << "the random runs test next to nothing";
}

}  // namespace
}  // namespace torchtrace::analysis
