#include "core/full_ring.h"
#include "observer_op_path.h"

/// Rings that overflow: what is lost, by policy, and that it is counted once.
namespace torchtrace::observer {
namespace {

constexpr std::uint64_t kRingBytes = 64U << 10U;
constexpr std::uint64_t kSlots = kRingBytes / sizeof(core::Record);

class overflow : public op_path {
 protected:
  void use_policy(core::RingPolicy policy) {
    core::ThreadRegistry::forget_this_thread();
    core::g_process.store(nullptr);
    make_process(kRingBytes, 8, policy);
  }

  void run(const FakeSchema& schema, std::uint64_t count) const {
    FakeRecordFunction function(schema, Scope::kFunction);
    for (std::uint64_t call = 0; call < count; ++call) {
      begin(function);
      end(function);
    }
  }

  flush::Totals totals() const { return collector_->totals(); }
};

TEST_F(overflow, the_newest_operators_stay_where_the_oldest_are_overwritten) {
  use_policy(core::kRingOverwriteOldest);
  run(add_, 3 * kSlots);
  run(mul_, 1);
  const auto ops = collect();
  EXPECT_EQ(core::OpId::count(ops.at("aten::mul.Tensor").record.op_id), 3 * kSlots + 1);
  EXPECT_GE(written_, kSlots - core::kOverwriteBatch);
  EXPECT_EQ(written_ + totals().dropped_overwritten, 3 * kSlots + 1);
  expect_sum();
  const std::vector<flush::Loss> losses = collector_->take_losses();
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_STREQ(losses[0].reason, "dropped_overwritten");
  EXPECT_EQ(losses[0].count, totals().dropped_overwritten);
}

TEST_F(overflow, a_ring_that_overwrites_loses_nothing_while_it_is_drained_in_time) {
  use_policy(core::kRingOverwriteOldest);
  for (int round = 0; round < 20; ++round) {
    run(add_, kSlots - core::kOverwriteBatch);
    collect();
  }
  EXPECT_EQ(written_, 20 * (kSlots - core::kOverwriteBatch));
  EXPECT_EQ(totals().dropped(), 0U);
  expect_sum();
}

/// An abandoned operator has a record where records are drained, to close its begin. One that could
/// be overwritten would be counted twice.
TEST_F(overflow, an_abandoned_operator_is_not_also_overwritten) {
  use_policy(core::kRingOverwriteOldest);
  FakeRecordFunction outer(add_, Scope::kFunction);
  FakeRecordFunction stale(mul_, Scope::kFunction);
  for (std::uint64_t call = 0; call < 2 * kSlots; ++call) {
    begin(outer);
    begin(stale);
    end(outer);
  }
  collect();
  EXPECT_EQ(totals().dropped_abandoned, 2 * kSlots);
  EXPECT_GT(totals().dropped_overwritten, 0U);
  expect_sum();
}

TEST_F(overflow, scopes_are_overwritten_like_operators) {
  use_policy(core::kRingOverwriteOldest);
  for (std::uint64_t call = 0; call < 2 * kSlots; ++call) {
    FakeRecordFunction scope("step", Scope::kUserScope);
    auto context = begin(scope);
    end(scope, std::move(context));
  }
  collect();
  EXPECT_GT(totals().dropped_overwritten, 0U);
  expect_sum();
}

/// The flush thread is not there: no wait, and the reason is the ring's.
TEST_F(overflow, a_thread_that_has_nobody_to_wait_for_drops) {
  use_policy(core::kRingBlock);
  run(add_, kSlots + 5);
  collect();
  EXPECT_EQ(totals().dropped_ring_full, 5U);
  expect_sum();
}

TEST_F(overflow, a_thread_whose_wait_was_in_vain_counts_that_and_goes_on) {
  use_policy(core::kRingBlock);
  g_test_process->consumer.set_thread(1);
  run(add_, kSlots + 5);
  collect();
  EXPECT_EQ(totals().dropped_block_timeout, 5U);
  run(add_, 1);
  collect();
  EXPECT_EQ(written_, kSlots + 1);
  expect_sum();
  EXPECT_STREQ(collector_->take_losses().at(0).reason, "dropped_block_timeout");
}

}  // namespace
}  // namespace torchtrace::observer
