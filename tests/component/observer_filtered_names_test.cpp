#include <string>
#include <thread>

#include "observer_op_path.h"

/// What a filter leaves out.
namespace torchtrace::observer {
namespace {

/// `aten::mul*` is left out.
class filtered_names : public op_path, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    names_ = filters::NameFilter({}, {"aten::mul*", "noise"});
    op_path::SetUp();
    if (GetParam() == std::string("short")) {
      take_the_short_way();
      before_filtered_ = collector_->totals().filtered;
    }
  }
  std::uint64_t filtered() { return collector_->totals().filtered - before_filtered_; }

  std::uint64_t before_filtered_ = 0;
};

INSTANTIATE_TEST_SUITE_P(ways, filtered_names, testing::Values("careful", "short"),
                         [](const auto& way) { return std::string(way.param); });

TEST_P(filtered_names, are_counted_and_stand_in_the_depth_but_around_nothing) {
  FakeRecordFunction outer(add_, Scope::kFunction);
  FakeRecordFunction left_out(mul_, Scope::kFunction);
  FakeRecordFunction left_out_too(mul_, Scope::kFunction);
  FakeRecordFunction inner(relu_, Scope::kFunction);
  begin(outer);
  begin(left_out);
  begin(left_out_too);
  begin(inner);
  end(inner);
  end(left_out_too);
  end(left_out);
  end(outer);
  const auto ops = collect();
  EXPECT_EQ(ops.size(), 2U);
  EXPECT_EQ(ops.at("aten::relu").parent, ops.at("aten::add.Tensor").record.op_id);
  EXPECT_EQ(ops.at("aten::relu").record.depth, 3);
  EXPECT_EQ(filtered(), 2U);
  expect_sum();
}

TEST_P(filtered_names, are_never_taken_for_open_operators) {
  FakeRecordFunction outer(add_, Scope::kFunction);
  FakeRecordFunction left_out(mul_, Scope::kFunction);
  for (int turn = 0; turn < 3; ++turn) {
    begin(outer);
    begin(left_out);
    collect();
    EXPECT_EQ(collector_->totals().open, 1U);
    end(left_out);
    end(outer);
  }
  collect();
  expect_sum();
}

TEST_P(filtered_names, left_behind_are_not_counted_twice) {
  FakeRecordFunction outer(add_, Scope::kFunction);
  FakeRecordFunction lost(mul_, Scope::kFunction);
  FakeRecordFunction scope(std::string("noise"), Scope::kUserScope);
  begin(outer);
  begin(lost);
  EXPECT_EQ(begin(scope), nullptr);
  end(outer);
  std::thread([&] {
    begin(lost);  // and the thread ends inside of it
  }).join();
  collect();
  EXPECT_EQ(collector_->totals().dropped(), 0U);
  EXPECT_EQ(filtered(), 3U);
  expect_sum();
}

TEST_P(filtered_names, need_no_room_in_the_ring) {
  const std::uint64_t capacity = g_test_process->mapping.ring_slots();
  FakeRecordFunction kept(add_, Scope::kFunction);
  FakeRecordFunction left_out(mul_, Scope::kFunction);
  for (std::uint64_t at = 0; at < capacity; ++at) {
    begin(kept);
    end(kept);
  }
  begin(left_out);
  end(left_out);
  collect();
  EXPECT_EQ(collector_->totals().dropped(), 0U);
  EXPECT_EQ(filtered(), 1U);
  expect_sum();
}

}  // namespace
}  // namespace torchtrace::observer
