#include "observer_op_path.h"

#include <array>
#include <memory>
#include <thread>
#include <vector>

/// What programs do, and what of it is in the trace.
namespace torchtrace::observer {
namespace {

INSTANTIATE_TEST_SUITE_P(ways, op_path_each_way, testing::Values("careful", "short"),
                         [](const auto& way) { return std::string(way.param); });

TEST_P(op_path_each_way, names_are_qualified_by_their_overload) {
  FakeRecordFunction add(add_, Scope::kFunction);
  FakeRecordFunction relu(relu_, Scope::kFunction);
  begin(add);
  end(add);
  begin(relu);
  end(relu);
  const auto ops = collect();
  EXPECT_EQ(ops.size(), 2U);
  EXPECT_EQ(ops.count("aten::add.Tensor"), 1U);
  EXPECT_EQ(ops.count("aten::relu"), 1U);
  expect_sum();
}

TEST_P(op_path_each_way, nesting_gives_parents_and_depths) {
  FakeRecordFunction outer(add_, Scope::kFunction);
  FakeRecordFunction inner(mul_, Scope::kFunction);
  FakeRecordFunction innermost(relu_, Scope::kFunction);
  begin(outer);
  begin(inner);
  begin(innermost);
  end(innermost);
  end(inner);
  end(outer);
  const auto ops = collect();
  EXPECT_EQ(ops.at("aten::add.Tensor").parent, 0U);
  EXPECT_EQ(ops.at("aten::mul.Tensor").parent, ops.at("aten::add.Tensor").record.op_id);
  EXPECT_EQ(ops.at("aten::relu").parent, ops.at("aten::mul.Tensor").record.op_id);
  EXPECT_EQ(ops.at("aten::relu").record.depth, 2);
  expect_sum();
}

TEST_P(op_path_each_way, a_string_that_reuses_an_address_has_its_own_name) {
  alignas(FakeRecordFunction) unsigned char place[sizeof(FakeRecordFunction)];
  for (const char* name : {"AddBackward0", "MulBackward0", "iter 1", "iter 2"}) {
    auto* function = new (place) FakeRecordFunction(std::string(name), Scope::kBackwardFunction);
    begin(*function);
    end(*function);
    function->~FakeRecordFunction();
  }
  const auto ops = collect();
  for (const char* name : {"AddBackward0", "MulBackward0", "iter 1", "iter 2"}) {
    EXPECT_EQ(ops.count(name), 1U) << name;
  }
}

TEST_P(op_path_each_way, a_schema_that_reuses_an_address_has_its_own_name) {
  FakeSchema schema{"mylib::first", ""};
  for (const char* name : {"mylib::first", "mylib::other"}) {
    schema.name = name;
    FakeRecordFunction function(schema, Scope::kFunction);
    begin(function);
    end(function);
  }
  const auto ops = collect();
  EXPECT_EQ(ops.count("mylib::first"), 1U);
  EXPECT_EQ(ops.count("mylib::other"), 1U);
}

TEST_P(op_path_each_way, backward_functions_carry_the_link_to_their_forward) {
  FakeRecordFunction function(std::string("AddBackward0"), Scope::kBackwardFunction);
  function.put(FakeRecordFunction::Offsets::kSequenceNumber, std::int64_t{42});
  function.put(FakeRecordFunction::Offsets::kForwardThreadWithKeywordInputs, std::uint64_t{3});
  begin(function);
  end(function);
  const SequencedOp op = collect().at("AddBackward0");
  EXPECT_EQ(op.record.sequence_nr, 42);
  EXPECT_EQ(op.record.forward_thread, 3U);
  EXPECT_EQ(op.record.scope, static_cast<std::uint8_t>(Scope::kBackwardFunction));
}

TEST_P(op_path_each_way, an_open_operator_is_announced) {
  FakeRecordFunction outer(add_, Scope::kFunction);
  begin(outer);
  EXPECT_EQ(collect().at("aten::add.Tensor").kind, OpKind::kBegin);
  EXPECT_EQ(collector_->totals().open, 1U);
  expect_sum();
  end(outer);
  EXPECT_EQ(collect().at("aten::add.Tensor").kind, OpKind::kEnd);
  expect_sum();
}

TEST_P(op_path_each_way, a_scope_can_end_on_another_thread) {
  FakeRecordFunction scope(std::string("all_reduce"), Scope::kUserScope);
  Context context = begin(scope);
  ASSERT_NE(context, nullptr);
  std::thread([&] { end(scope, std::move(context)); }).join();
  const SequencedOp op = collect().at("all_reduce");
  EXPECT_EQ(op.kind, OpKind::kOp);
  EXPECT_NE(op.record.flags & core::kFlagAsync, 0);
  EXPECT_NE(op.record.end_slot, core::OpId::slot(op.record.op_id));
  // The thread that started it goes on at the depth it had.
  FakeRecordFunction add(add_, Scope::kFunction);
  begin(add);
  end(add);
  const SequencedOp next = collect().at("aten::add.Tensor");
  EXPECT_EQ(next.record.depth, 0);
  EXPECT_EQ(next.parent, 0U);
  expect_sum();
}

TEST_P(op_path_each_way, a_scope_can_end_after_the_thread_that_started_it) {
  FakeRecordFunction scope(std::string("rpc"), Scope::kUserScope);
  Context context;
  std::thread([&] { context = begin(scope); }).join();
  EXPECT_EQ(collect().at("rpc").kind, OpKind::kBegin);
  EXPECT_EQ(collector_->totals().open, 1U);
  end(scope, std::move(context));
  const SequencedOp op = collect().at("rpc");
  EXPECT_EQ(op.kind, OpKind::kEnd);
  EXPECT_EQ(op.outcome, TORCHTRACE_OUTCOME_ENDED);
  expect_sum();
}

TEST_P(op_path_each_way, a_scope_can_outlive_the_operator_around_it) {
  FakeRecordFunction call(add_, Scope::kFunction);
  FakeRecordFunction scope(std::string("gloo:all_reduce"), Scope::kUserScope);
  FakeRecordFunction later(mul_, Scope::kFunction);
  begin(call);
  Context context = begin(scope);
  end(call);
  begin(later);
  end(later);
  end(scope, std::move(context));
  const auto ops = collect();
  EXPECT_EQ(ops.at("gloo:all_reduce").parent, ops.at("aten::add.Tensor").record.op_id);
  EXPECT_NE(ops.at("gloo:all_reduce").record.flags & core::kFlagDetached, 0);
  EXPECT_EQ(ops.at("aten::mul.Tensor").parent, 0U);
  EXPECT_EQ(ops.at("aten::mul.Tensor").record.depth, 0);
  expect_sum();
}

TEST_P(op_path_each_way, scopes_can_end_out_of_order) {
  FakeRecordFunction first(std::string("first"), Scope::kUserScope);
  FakeRecordFunction second(std::string("second"), Scope::kUserScope);
  Context first_context = begin(first);
  Context second_context = begin(second);
  end(first, std::move(first_context));
  FakeRecordFunction add(add_, Scope::kFunction);
  begin(add);
  end(add);
  end(second, std::move(second_context));
  FakeRecordFunction mul(mul_, Scope::kFunction);
  begin(mul);
  end(mul);
  const auto ops = collect();
  EXPECT_EQ(ops.at("aten::add.Tensor").parent, ops.at("second").record.op_id);
  EXPECT_EQ(ops.at("aten::mul.Tensor").parent, 0U);
  EXPECT_EQ(ops.at("aten::mul.Tensor").record.depth, 0);
  expect_sum();
}

TEST_P(op_path_each_way, a_thousand_scopes_use_the_table_again) {
  for (int round = 0; round < 4 * static_cast<int>(core::kMaxScopes); ++round) {
    FakeRecordFunction scope(std::string("step"), Scope::kUserScope);
    Context context = begin(scope);
    ASSERT_NE(context, nullptr) << round;
    if (round % 2 == 0) {
      end(scope, std::move(context));
    } else {
      std::thread([&] { end(scope, std::move(context)); }).join();
    }
    collect();
  }
  collect();
  EXPECT_EQ(collector_->totals().dropped(), 0U);
  expect_sum();
}

TEST_P(op_path_each_way, counts_scopes_beyond_the_table) {
  std::vector<std::unique_ptr<FakeRecordFunction>> scopes;
  std::vector<Context> contexts;
  for (std::uint32_t at = 0; at < core::kMaxScopes + 10; ++at) {
    // Each inside an operator that ends before it, so that the stack stays flat.
    FakeRecordFunction call(add_, Scope::kFunction);
    begin(call);
    scopes.push_back(std::make_unique<FakeRecordFunction>(std::string("async"), Scope::kUserScope));
    contexts.push_back(begin(*scopes.back()));
    end(call);
  }
  collect();
  EXPECT_EQ(collector_->totals().dropped_no_scope, 10U);
  expect_sum();
  for (std::size_t at = 0; at < scopes.size(); ++at) end(*scopes[at], std::move(contexts[at]));
  collect();
  EXPECT_EQ(collector_->totals().open, 0U);
  expect_sum();
}

TEST_P(op_path_each_way, counts_operators_beyond_the_stack) {
  std::vector<std::unique_ptr<FakeRecordFunction>> calls;
  for (std::uint32_t at = 0; at < core::kMaxFrames + 5; ++at) {
    calls.push_back(std::make_unique<FakeRecordFunction>(add_, Scope::kFunction));
    begin(*calls.back());
  }
  while (!calls.empty()) {
    end(*calls.back());
    calls.pop_back();
  }
  collect();
  EXPECT_EQ(collector_->totals().dropped_too_deep, 5U);
  EXPECT_EQ(written_, core::kMaxFrames);
  expect_sum();
}

TEST_P(op_path_each_way, counts_what_does_not_fit_into_the_ring) {
  const std::uint64_t capacity = g_test_process->mapping.ring_slots();
  for (std::uint64_t at = 0; at < capacity + 7; ++at) {
    FakeRecordFunction call(add_, Scope::kFunction);
    begin(call);
    end(call);
  }
  collect();
  EXPECT_EQ(collector_->totals().dropped_ring_full, 7U);
  EXPECT_EQ(written_, capacity);
  const auto losses = collector_->take_losses();
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_STREQ(losses[0].reason, "dropped_ring_full");
  EXPECT_EQ(losses[0].count, 7U);
  EXPECT_EQ(losses[0].first, before_ + capacity + 1);
  EXPECT_EQ(losses[0].last, before_ + capacity + 7);
  expect_sum();
}

TEST_P(op_path_each_way, counts_threads_beyond_the_cap) {
  core::ThreadRegistry::forget_this_thread();
  core::g_process.store(nullptr);
  make_process(64U << 10U, 1);
  before_ = 0;
  FakeRecordFunction mine(add_, Scope::kFunction);
  begin(mine);
  std::thread([&] {
    FakeRecordFunction theirs(mul_, Scope::kFunction);
    begin(theirs);
    end(theirs);
  }).join();
  end(mine);
  const auto ops = collect();
  EXPECT_EQ(ops.size(), 1U);
  EXPECT_EQ(collector_->totals().dropped_no_buffer, 1U);
  EXPECT_EQ(collector_->totals().started, 2U);
  expect_sum();
}

TEST_P(op_path_each_way, finds_a_frame_that_was_left_behind) {
  FakeRecordFunction outer(add_, Scope::kFunction);
  FakeRecordFunction lost(mul_, Scope::kFunction);  // left by longjmp, say
  begin(outer);
  begin(lost);
  end(outer);
  const auto ops = collect();
  EXPECT_EQ(ops.count("aten::add.Tensor"), 1U);
  EXPECT_EQ(ops.count("aten::mul.Tensor"), 0U);
  EXPECT_EQ(collector_->totals().dropped_abandoned, 1U);
  expect_sum();
}

TEST_P(op_path_each_way, an_address_on_top_of_the_stack_is_a_stale_frame) {
  FakeRecordFunction call(add_, Scope::kFunction);
  begin(call);
  begin(call);
  end(call);
  collect();
  EXPECT_EQ(written_, 1U);
  EXPECT_EQ(collector_->totals().dropped_abandoned, 1U);
  EXPECT_EQ(collector_->totals().open, 0U);
  expect_sum();
}

TEST_P(op_path_each_way, ignores_an_end_that_never_began) {
  FakeRecordFunction call(add_, Scope::kFunction);
  FakeRecordFunction other(mul_, Scope::kFunction);
  begin(call);
  end(other);
  end(call);
  EXPECT_EQ(collect().size(), 1U);
  expect_sum();
}

TEST_P(op_path_each_way, counts_ends_of_what_the_parent_process_started) {
  FakeRecordFunction call(add_, Scope::kFunction);
  FakeRecordFunction scope(std::string("outer"), Scope::kUserScope);
  Context context = begin(scope);
  begin(call);
  before_fork();
  // As in the child: another process, no thread state.
  core::ThreadRegistry::forget_this_thread();
  make_process(64U << 10U, 8);
  core::g_process.store(nullptr);
  core::g_inherited_ends.store(0);
  after_fork_in_child();
  end(call);
  end(scope, std::move(context));
  EXPECT_EQ(core::g_inherited_ends.load(), 2U);
  EXPECT_EQ(collector_->totals().started, 0U);
}

TEST_P(op_path_each_way, serves_nothing_after_quiesce_but_ends_what_is_open) {
  FakeRecordFunction open(add_, Scope::kFunction);
  FakeRecordFunction late(mul_, Scope::kFunction);
  begin(open);
  quiesce();
  begin(late);
  end(late);
  end(open);
  const auto ops = collect();
  EXPECT_EQ(ops.size(), 1U);
  EXPECT_EQ(collector_->totals().started, before_ + 1);
  expect_sum();
}

}  // namespace
}  // namespace torchtrace::observer
