#include "observer/layout_check.h"
#include "observer_op_path.h"

namespace torchtrace::observer {
namespace {

/// Layouts that are not PyTorch's: each is recognised, none is read wrongly.
class doctored_layout : public op_path {
 protected:
  void run(FakeRecordFunction& function) {
    begin(function);
    end(function);
  }
};

TEST_F(doctored_layout, agreement_is_verified_after_enough_events) {
  for (std::uint32_t at = 0; at < kEventsToVerify; ++at) {
    EXPECT_EQ(g_layout_verdict.load(), LayoutVerdict::kUnchecked);
    FakeRecordFunction function(add_, Scope::kFunction);
    run(function);
  }
  EXPECT_EQ(g_layout_verdict.load(), LayoutVerdict::kVerified);
}

TEST_F(doctored_layout, an_unknown_scope_turns_the_observer_off) {
  FakeRecordFunction function(add_, Scope::kFunction);
  function.put(kScopeOffset, std::uint8_t{11});
  run(function);
  EXPECT_EQ(g_layout_verdict.load(), LayoutVerdict::kOff);
  EXPECT_TRUE(collect().empty());
  expect_sum();
}

TEST_F(doctored_layout, a_moved_schema_pointer_leaves_names_without_overloads) {
  FakeRecordFunction function(add_, Scope::kFunction);
  const FakeSchema elsewhere{"aten::wrong", "wrong"};
  TorchLibrary torch = fakes::fake_torch_library();
  torch.name = [](const RecordFunction*) { return "aten::add"; };
  std::array<bool, core::kScopeCount> scopes{};
  scopes[0] = true;
  start(torch, scopes, names_);
  function.put(kFunctionOffset, &elsewhere);
  run(function);
  EXPECT_EQ(g_layout_verdict.load(), LayoutVerdict::kNameOnly);
  const auto ops = collect();
  ASSERT_EQ(ops.count("aten::add"), 1U);
  EXPECT_EQ(ops.at("aten::add").record.sequence_nr, -1);
}

TEST_F(doctored_layout, another_overload_name_is_not_believed) {
  TorchLibrary torch = fakes::fake_torch_library();
  torch.overload_name = [](const RecordFunction*) { return "Scalar"; };
  std::array<bool, core::kScopeCount> scopes{};
  scopes[0] = true;
  start(torch, scopes, names_);
  FakeRecordFunction function(add_, Scope::kFunction);
  run(function);
  EXPECT_EQ(g_layout_verdict.load(), LayoutVerdict::kNameOnly);
  EXPECT_EQ(collect().count("aten::add"), 1U);
}

TEST_F(doctored_layout, another_thread_number_is_not_believed) {
  FakeRecordFunction function(add_, Scope::kFunction);
  function.put(kThreadIdOffset, std::uint64_t{99});
  run(function);
  EXPECT_EQ(g_layout_verdict.load(), LayoutVerdict::kNameOnly);
}

TEST_F(doctored_layout, without_keyword_inputs_the_forward_thread_is_nearer) {
  FakeRecordFunction function(std::string("AddBackward0"), Scope::kBackwardFunction);
  for (std::size_t at = 0; at < 16; at += 8) {  // an empty outputs_ vector
    function.put(FakeRecordFunction::Offsets::kKeywordInputs + at, std::uint64_t{0});
  }
  function.put(FakeRecordFunction::Offsets::kForwardThreadWithout, std::uint64_t{5});
  run(function);
  EXPECT_EQ(collect().at("AddBackward0").record.forward_thread, 5U);
}

}  // namespace
}  // namespace torchtrace::observer
