#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "core/events.h"
#include "flush/sequencer.h"

namespace torchtrace::flush {
namespace {

using core::OpId;

/// One thread's operators as they really were, with what the sequencer may see of them.
struct Op {
  std::uint64_t count = 0;
  std::uint64_t t0 = 0;
  std::uint64_t t1 = 0;
  std::uint16_t depth = 0;
  std::uint64_t parent = 0;  ///< `count`
  bool is_dropped = false;
};

core::Record record_of(std::uint32_t slot, const Op& op) {
  core::Record record{};
  record.t0_ticks = op.t0;
  record.t1_ticks = op.t1;
  record.op_id = OpId::make(slot, op.count);
  record.sequence_nr = -1;
  record.name_id = 1;
  record.end_slot = slot;
  record.depth = op.depth;
  record.parent = op.parent == 0 ? 0 : OpId::make(slot, op.parent);
  return record;
}

core::OpenOpCopy open_of(std::uint32_t slot, const Op& op) {
  core::OpenOpCopy copy{};
  copy.op_id = OpId::make(slot, op.count);
  copy.t0_ticks = op.t0;
  copy.name_id = 1;
  copy.depth = op.depth;
  copy.parent = op.parent == 0 ? 0 : OpId::make(slot, op.parent);
  return copy;
}

/// Ticks are ns.
class sequencer : public testing::Test {
 protected:
  sequencer() { clock_.start({0, 0, 0, 0}, {1000, 1000, 1000, 1000}); }

  std::vector<SequencedOp> advance(std::uint64_t watermark) {
    std::vector<SequencedOp> out;
    sequencer_.advance(watermark, watermark + 50, clock_,
                       [&](const SequencedOp& op) { out.push_back(op); });
    return out;
  }

  void add(std::uint32_t slot, const Op& op) {
    const core::Record record = record_of(slot, op);
    sequencer_.add_records(&record, 1);
  }

  core::TickConverter clock_;
  Sequencer sequencer_;
};

TEST_F(sequencer, holds_back_what_the_watermark_has_not_passed) {
  add(1, {1, 100, 110, 0});
  EXPECT_TRUE(advance(99).empty());
  EXPECT_EQ(sequencer_.pending(), 1U);
  const auto out = advance(100);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].kind, OpKind::kOp);
  EXPECT_EQ(out[0].start_ns, 100U);
  EXPECT_EQ(out[0].end_ns, 110U);
  EXPECT_EQ(sequencer_.pending(), 0U);
}

TEST_F(sequencer, puts_parents_before_children_and_threads_together) {
  // Rings hold children first.
  add(1, {2, 20, 30, 1, 1});
  add(1, {1, 10, 40, 0});
  add(2, {1, 15, 35, 0});
  const auto out = advance(100);
  ASSERT_EQ(out.size(), 3U);
  EXPECT_EQ(out[0].record.op_id, OpId::make(1, 1));
  EXPECT_EQ(out[1].record.op_id, OpId::make(2, 1));
  EXPECT_EQ(out[2].record.op_id, OpId::make(1, 2));
  EXPECT_EQ(out[2].parent, OpId::make(1, 1));
  EXPECT_EQ(out[1].parent, 0U);
}

TEST_F(sequencer, announces_what_is_open_and_closes_it_once) {
  const Op outer{1, 10, 500, 0};
  sequencer_.add_open(open_of(1, outer));
  auto out = advance(50);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].kind, OpKind::kBegin);
  EXPECT_EQ(out[0].start_ns, 10U);
  sequencer_.add_open(open_of(1, outer));
  add(1, {2, 60, 70, 1, 1});
  out = advance(100);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].parent, OpId::make(1, 1));
  EXPECT_EQ(sequencer_.announced(), 1U);
  add(1, outer);  // its end waits for the watermark
  EXPECT_TRUE(advance(499).empty());
  out = advance(500);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].kind, OpKind::kEnd);
  EXPECT_EQ(out[0].outcome, TORCHTRACE_OUTCOME_ENDED);
  EXPECT_EQ(out[0].start_ns, 10U);
  EXPECT_EQ(out[0].end_ns, 500U);
  EXPECT_EQ(sequencer_.announced(), 0U);
  EXPECT_TRUE(advance(1000).empty());
}

TEST_F(sequencer, an_operator_seen_open_and_in_the_ring_comes_once) {
  const Op op{1, 10, 60, 0};
  sequencer_.add_open(
      open_of(1, op));  // the stack was read, then it ended, then the ring was drained
  add(1, op);
  const auto out = advance(50);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].kind, OpKind::kOp);
}

TEST_F(sequencer, closes_an_announced_operator_whose_record_was_dropped) {
  sequencer_.add_open(open_of(1, {1, 10, 0, 0}));
  EXPECT_EQ(advance(50).size(), 1U);
  EXPECT_TRUE(advance(80).empty());  // neither on the stack nor in the ring, which was read at 130
  const auto out = advance(130);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].kind, OpKind::kEnd);
  EXPECT_EQ(out[0].outcome, TORCHTRACE_OUTCOME_DROPPED);
  EXPECT_EQ(out[0].end_ns, 130U);
}

TEST_F(sequencer, closes_what_a_thread_left_open_as_abandoned) {
  sequencer_.add_open(open_of(1, {1, 10, 0, 0}));
  EXPECT_EQ(advance(50).size(), 1U);
  sequencer_.retire(1, 60);
  EXPECT_TRUE(advance(80).empty());
  const auto out = advance(200);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].outcome, TORCHTRACE_OUTCOME_ABANDONED);
}

TEST_F(sequencer, abandoned_records_close_and_never_open) {
  const Op stale{1, 10, 90, 0};
  sequencer_.add_open(open_of(1, stale));
  EXPECT_EQ(advance(50).size(), 1U);
  core::Record record = record_of(1, stale);
  record.flags = core::kFlagAbandoned;
  sequencer_.add_records(&record, 1);
  record = record_of(1, {2, 60, 70, 1, 1});
  record.flags = core::kFlagAbandoned;
  sequencer_.add_records(&record, 1);
  const auto out = advance(100);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].outcome, TORCHTRACE_OUTCOME_ABANDONED);
}

TEST_F(sequencer, flags_what_comes_behind_the_watermark) {
  advance(100);
  add(1, {1, 90, 95, 0});
  const auto out = advance(200);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_NE(out[0].record.flags & core::kFlagLate, 0);
  EXPECT_EQ(sequencer_.late(), 1U);
}

TEST_F(sequencer, the_parent_of_a_dropped_operators_child_is_the_one_around_it) {
  add(1, {3, 20, 25, 2, 2});  // its parent, count 2 at depth 1, was dropped
  add(1, {1, 10, 40, 0});
  // After it, another tree whose root was dropped too: nothing is around it.
  add(1, {5, 60, 65, 1, 4});
  const auto out = advance(100);
  ASSERT_EQ(out.size(), 3U);
  EXPECT_EQ(out[1].parent, OpId::make(1, 1));
  EXPECT_EQ(out[2].parent, 0U);
}

TEST_F(sequencer, a_thread_that_has_ended_keeps_what_stood_around_its_last_operators) {
  add(1, {1, 10, 400, 0});
  EXPECT_EQ(advance(50).size(), 1U);
  add(1, {2, 60, 390, 1, 1});
  sequencer_.retire(1, 410);
  const auto out = advance(100);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].parent, OpId::make(1, 1));
}

TEST_F(sequencer, a_frame_that_outstays_its_record_is_not_announced) {
  const Op op{1, 10, 20, 0};
  sequencer_.add_open(open_of(1, op));
  add(1, op);  // pushed, and then the thread was stopped before it popped the frame
  EXPECT_EQ(advance(50).size(), 1U);
  sequencer_.add_open(open_of(1, op));
  EXPECT_TRUE(advance(100).empty());
  EXPECT_EQ(sequencer_.announced(), 0U);
}

TEST_F(sequencer, a_record_that_was_missed_for_one_period_closes_its_operator_once) {
  const Op scope{1, 10, 90, 0};
  sequencer_.add_open(open_of(1, scope));
  EXPECT_EQ(advance(50).size(), 1U);
  EXPECT_TRUE(advance(60).empty());  // neither open nor in a ring that was looked at
  add(1, scope);                     // it was in the ring of a thread that had just begun
  const auto out = advance(300);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].outcome, TORCHTRACE_OUTCOME_ENDED);
  EXPECT_EQ(out[0].end_ns, 90U);
  EXPECT_TRUE(advance(600).empty());
}

TEST_F(sequencer, repeats_what_is_open_for_a_new_file) {
  sequencer_.add_open(open_of(1, {1, 10, 0, 0}));
  sequencer_.add_open(open_of(2, {4, 20, 0, 0}));
  advance(50);
  std::vector<SequencedOp> repeated;
  sequencer_.repeat_open([&](const SequencedOp& op) { repeated.push_back(op); });
  ASSERT_EQ(repeated.size(), 2U);
  for (const SequencedOp& op : repeated) {
    EXPECT_EQ(op.kind, OpKind::kBegin);
    EXPECT_NE(op.record.flags & core::kFlagRepeated, 0);
  }
}

/// Random trees on several threads, drained at random moments and with random drops, against what
/// really happened.
class sequencer_against_reality : public testing::TestWithParam<unsigned> {
 protected:
  /// Appends a random tree to `ops`; returns when it ends.
  std::uint64_t grow(std::vector<Op>& ops, std::uint64_t now, std::uint16_t depth,
                     std::uint64_t parent) {
    const std::size_t mine = ops.size();
    ops.push_back({});
    ops[mine].count = mine + 1;
    ops[mine].t0 = now;
    ops[mine].depth = depth;
    ops[mine].parent = parent;
    ops[mine].is_dropped = random_() % 10 == 0;
    now += 1 + random_() % 30;
    const unsigned children = depth < 5 ? random_() % 4 : 0;
    for (unsigned child = 0; child < children; ++child) {
      now = grow(ops, now, static_cast<std::uint16_t>(depth + 1), mine + 1) + 1 + random_() % 5;
    }
    ops[mine].t1 = now + random_() % 60;
    return ops[mine].t1 + 1;
  }

  std::mt19937 random_{GetParam()};
};

TEST_P(sequencer_against_reality, keeps_order_parents_and_counts) {
  constexpr std::uint64_t kHold = 40;
  std::map<std::uint32_t, std::vector<Op>> threads;
  std::uint64_t end = 0;
  for (std::uint32_t slot = 1; slot <= 3; ++slot) {
    std::uint64_t now = 1 + random_() % 10;
    for (int tree = 0; tree < 20; ++tree) now = grow(threads[slot], now, 0, 0);
    end = std::max(end, now);
  }
  core::TickConverter clock;
  clock.start({0, 0, 0, 0}, {1000, 1000, 1000, 1000});
  Sequencer sequencer;
  std::map<std::uint64_t, int> begins;
  std::map<std::uint64_t, int> ends;
  std::map<std::uint64_t, const Op*> by_id;
  for (const auto& [slot, ops] : threads) {
    for (const Op& op : ops) by_id[OpId::make(slot, op.count)] = &op;
  }
  std::uint64_t last_ns = 0;
  std::uint64_t drained_until = 0;
  const auto check = [&](const SequencedOp& op) {
    const std::uint64_t ts = op.kind == OpKind::kEnd ? op.end_ns : op.start_ns;
    ASSERT_GE(ts, last_ns);
    last_ns = ts;
    const std::uint64_t id = op.record.op_id;
    if (op.kind == OpKind::kEnd) {
      ASSERT_EQ(begins[id], 1);
      ASSERT_EQ(++ends[id], 1);
      ASSERT_EQ(op.outcome == TORCHTRACE_OUTCOME_DROPPED, by_id[id]->is_dropped);
      return;
    }
    ASSERT_EQ(++begins[id], 1);
    if (op.kind == OpKind::kOp) ++ends[id];
    if (op.parent == 0) return;
    ASSERT_EQ(begins[op.parent], 1) << "a parent comes before its children";
    const Op& parent = *by_id[op.parent];
    ASSERT_LE(parent.t0, by_id[id]->t0);
    ASSERT_GE(parent.t1, by_id[id]->t1);
    ASSERT_LT(parent.depth, by_id[id]->depth);
    // None that is in the trace lies between the two.
    for (const Op& other : threads[OpId::slot(id)]) {
      if (other.t0 <= parent.t0 || other.t0 >= by_id[id]->t0 || other.t1 < by_id[id]->t1) continue;
      ASSERT_EQ(begins[OpId::make(OpId::slot(id), other.count)], 0);
    }
  };
  for (std::uint64_t now = 5; now < end + 200; now += 1 + random_() % 25) {
    for (const auto& [slot, ops] : threads) {
      for (const Op& op : ops) {
        if (op.t0 <= now && op.t1 > now) sequencer.add_open(open_of(slot, op));
      }
      std::vector<core::Record> drained;
      for (const Op& op : ops) {
        if (op.t1 > drained_until && op.t1 <= now && !op.is_dropped) {
          drained.push_back(record_of(slot, op));
        }
      }
      std::sort(drained.begin(), drained.end(),
                [](const auto& left, const auto& right) { return left.t1_ticks < right.t1_ticks; });
      sequencer.add_records(drained.data(), drained.size());
    }
    drained_until = now;
    sequencer.advance(now > kHold ? now - kHold : 0, now, clock, check);
  }
  EXPECT_EQ(sequencer.late(), 0U);
  EXPECT_EQ(sequencer.announced(), 0U);
  for (const auto& [id, op] : by_id) {
    if (!op->is_dropped) {
      ASSERT_EQ(ends[id], 1);
    }
    ASSERT_EQ(begins[id], ends[id]);
    if (op->is_dropped && op->t1 - op->t0 < kHold) {
      ASSERT_EQ(begins[id], 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(seeds, sequencer_against_reality, testing::Range(1U, 101U));

}  // namespace
}  // namespace torchtrace::flush
