#include "fakes/fake_callback_list.h"
#include "observer/registration.h"
#include "observer_op_path.h"

namespace torchtrace::observer {

using fakes::FakeCallbackList;
using Operator = FakeCallbackList::Operator;

/// The callbacks in a list that behaves as PyTorch's.
class registration : public op_path {
 protected:
  void SetUp() override {
    op_path::SetUp();
    register_with(FakeCallbackList::library());
  }
  void TearDown() override {
    close_registration();
    op_path::TearDown();
  }

  void register_with(const TorchLibrary& torch) {
    list_.reset();
    torch_ = torch;
    RecordFunctionCallback callback{};
    callback.start = callbacks_.start;
    callback.end = callbacks_.end;
    callback.sampling_probability = 1.0;
    callback.scopes[static_cast<std::size_t>(Scope::kFunction)] = true;
    register_callback(torch_, callback);
  }

  void run(int operators) {
    const FakeRecordFunction function(add_, Scope::kFunction);
    for (int at = 0; at < operators; ++at) const Operator one(function);
  }
  std::uint64_t started() {
    collect();
    return collector_->totals().started;
  }

  FakeCallbackList& list_ = FakeCallbackList::get();
  TorchLibrary torch_{};
};

TEST_F(registration, is_called_for_no_operator_while_paused) {
  run(10);
  ASSERT_TRUE(pause());
  run(1000);
  EXPECT_EQ(list_.calls(), 10U);
  EXPECT_TRUE(is_registered());
  resume();
  run(10);
  EXPECT_EQ(list_.calls(), 20U);
  EXPECT_EQ(started(), 20U);
  expect_sum();
}

TEST_F(registration, gets_the_ends_of_what_was_open_when_it_paused) {
  const FakeRecordFunction outer(mul_, Scope::kFunction);
  {
    const Operator open(outer);
    ASSERT_TRUE(pause());
    run(5);
  }
  const auto ops = collect();
  EXPECT_EQ(ops.at("aten::mul.Tensor").outcome, TORCHTRACE_OUTCOME_ENDED);
  EXPECT_EQ(collector_->totals().started, 1U);
  EXPECT_EQ(collector_->totals().open, 0U);
  expect_sum();
}

TEST_F(registration, starts_afresh_around_operators_that_began_while_paused) {
  ASSERT_TRUE(pause());
  const FakeRecordFunction outer(mul_, Scope::kFunction);
  {
    const Operator unseen(outer);
    resume();
    run(3);
  }
  EXPECT_EQ(collect().at("aten::add.Tensor").parent, 0U);
  EXPECT_EQ(started(), 3U);
  expect_sum();
}

TEST_F(registration, may_be_told_the_same_again_and_again) {
  for (int round = 0; round < 3; ++round) {
    resume();
    look_after_registration(true);
    run(1);
  }
  for (int round = 0; round < 3; ++round) EXPECT_TRUE(pause());
  run(1);
  EXPECT_EQ(list_.size(), 1U);
  EXPECT_EQ(list_.calls(), 3U);
  EXPECT_EQ(list_.warnings(), 0);
}

TEST_F(registration, stays_on_where_pytorch_cannot_switch_it_off) {
  TorchLibrary torch = FakeCallbackList::library();
  torch.disable_callback = nullptr;
  register_with(torch);
  EXPECT_FALSE(pause());
  run(2);
  EXPECT_EQ(list_.calls(), 2U);
}

TEST_F(registration, is_added_again_once_after_the_program_removed_it) {
  run(1);
  for (int removal = 0; removal < 3; ++removal) {
    list_.clear();
    run(7);
    for (int period = 0; period < 5; ++period) look_after_registration(true);
    EXPECT_EQ(list_.size(), 1U);
    run(1);
  }
  EXPECT_EQ(started(), 4U);
  expect_sum();
}

TEST_F(registration, stays_away_where_the_program_removed_it) {
  list_.clear();
  look_after_registration(false);
  EXPECT_FALSE(is_registered());
  EXPECT_FALSE(pause());
  resume();
  look_after_registration(true);
  EXPECT_EQ(list_.size(), 0U);
  EXPECT_EQ(list_.warnings(), 0);
}

TEST_F(registration, is_missed_although_others_have_callbacks) {
  RecordFunctionCallback other{};
  other.start = [](const RecordFunction& /*event*/) { return Context(); };
  other.end = [](const RecordFunction& /*event*/, ObserverContext* /*context*/) {};
  for (const int others : {1, 4, 9}) {
    list_.clear();
    for (int at = 0; at < others; ++at) list_.add(other);
    look_after_registration(true);
    look_after_registration(true);
    EXPECT_EQ(list_.size(), others + 1U);
  }
}

TEST_F(registration, is_missed_when_it_resumes_if_it_was_removed_while_paused) {
  ASSERT_TRUE(pause());
  list_.clear();
  resume();
  look_after_registration(true);
  look_after_registration(true);
  EXPECT_EQ(list_.size(), 1U);
  EXPECT_EQ(list_.warnings(), 1);
}

TEST_F(registration, does_not_look_where_pytorch_answers_in_another_layout) {
  TorchLibrary torch = FakeCallbackList::library();
  torch.current_thread_id = [] { return std::uint64_t{77}; };
  register_with(torch);
  list_.clear();
  look_after_registration(true);
  EXPECT_EQ(list_.size(), 0U) << "what cannot be seen is not added twice";
}

TEST_F(registration, is_on_in_a_child_that_is_forked_while_paused) {
  ASSERT_TRUE(pause());
  ASSERT_TRUE(hold_registration());
  run(1);
  EXPECT_EQ(list_.calls(), 1U) << "on, before the child is born";
  release_registration();
  EXPECT_TRUE(pause());
  run(1);
  EXPECT_EQ(list_.calls(), 1U);
}

TEST_F(registration, does_not_touch_pytorch_once_the_process_ends) {
  close_registration();
  EXPECT_FALSE(pause());
  list_.clear();
  look_after_registration(true);
  EXPECT_EQ(list_.size(), 0U);
}

}  // namespace torchtrace::observer
