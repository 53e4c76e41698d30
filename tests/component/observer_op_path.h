#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/caution.h"
#include "core/events.h"
#include "core/process.h"
#include "fakes/fake_torch.h"
#include "flush/collector.h"
#include "flush/sequencer.h"
#include "observer/layout_check.h"
#include "observer/observer.h"
#include "observer/op_callbacks.h"

namespace torchtrace::observer {

using core::Scope;
using fakes::FakeRecordFunction;
using fakes::FakeSchema;
using flush::OpKind;
using flush::SequencedOp;

/// The callbacks, rings, collector and sequencer together, driven without PyTorch and without
/// threads of ours: what a program does, and what of it is in the trace.
class op_path : public testing::Test {
 protected:
  void SetUp() override {
    char path[] = "/tmp/torchtrace-op-path-XXXXXX";
    root_ = mkdtemp(path);
    make_process(64U << 10U, 8);
    core::g_activate = activate;
    std::array<bool, core::kScopeCount> scopes{};
    for (const Scope scope : {Scope::kFunction, Scope::kBackwardFunction, Scope::kUserScope}) {
      scopes[static_cast<std::size_t>(scope)] = true;
    }
    forget_verdict();
    core::use_counter(false);
    start(fakes::fake_torch_library(), scopes, names_);
    callbacks_ = op_callbacks(StringAbi::kCxx11);
  }

  void TearDown() override {
    core::use_counter(false);
    core::ThreadRegistry::forget_this_thread();
    core::g_process.store(nullptr);
    std::filesystem::remove_all(root_);
  }

  /// Leaked, as in the agent.
  void make_process(std::uint64_t ring_bytes, std::uint32_t max_buffers,
                    core::RingPolicy policy = core::kRingDropNewest) {
    // Reachable for ever, as in the agent.
    static auto* const processes = new std::vector<core::Process*>;
    g_test_process = new core::Process;
    processes->push_back(g_test_process);
    core::Mapping::Options options;
    options.ring_bytes = ring_bytes;
    options.max_buffers = max_buffers;
    options.root = root_.c_str();
    ASSERT_TRUE(g_test_process->mapping.create(options));
    ASSERT_TRUE(g_test_process->names.create(g_test_process->mapping));
    ASSERT_TRUE(g_test_process->threads.create(g_test_process->mapping, policy));
    collector_ = std::make_unique<flush::Collector>(*g_test_process);
  }

  using Context = std::unique_ptr<ObserverContext>;
  Context begin(const FakeRecordFunction& function) const {
    return callbacks_.start(function.event());
  }
  /// The end callback, then the destruction of the context, as RecordFunction does it.
  void end(const FakeRecordFunction& function, Context context = nullptr) const {
    callbacks_.end(function.event(), context.get());
  }

  /// Everything so far, by name; a later operator of the same name replaces an earlier one.
  std::map<std::string, SequencedOp> collect() {
    std::map<std::string, SequencedOp> ops;
    collector_->collect(sequencer_);
    const std::uint64_t now = core::read_ticks();
    sequencer_.advance(now, now, clock_, [&](const SequencedOp& op) {
      ops[std::string(g_test_process->names.text(op.record.name_id))] = op;
      if (op.kind != OpKind::kBegin && op.outcome == TORCHTRACE_OUTCOME_ENDED) ++written_;
    });
    return ops;
  }

  /// started = written + filtered + dropped + open, and nothing settles when no thread runs.
  void expect_sum() {
    const flush::Totals totals = collector_->totals();
    EXPECT_EQ(totals.started,
              before_ + written_ + totals.filtered + totals.dropped() + totals.open);
  }

  /// As in a program that is under way: the layout is verified, the names of this thread are known,
  /// ticks are the counter. What it takes is counted in `before_`.
  void take_the_short_way() {
    core::use_counter(true);
    FakeRecordFunction add(add_, Scope::kFunction);
    FakeRecordFunction mul(mul_, Scope::kFunction);
    FakeRecordFunction relu(relu_, Scope::kFunction);
    for (std::uint32_t at = 0; at < kEventsToVerify; ++at) {
      for (const FakeRecordFunction* function : {&add, &mul, &relu}) {
        begin(*function);
        end(*function);
      }
    }
    collect();
    before_ = std::exchange(written_, 0);
    ASSERT_FALSE(core::must_be_careful());
  }

  static core::Process* activate() noexcept {
    core::g_process.store(g_test_process);
    return g_test_process;
  }

  static inline core::Process* g_test_process = nullptr;
  std::string root_;
  OpCallbacks callbacks_{};
  std::unique_ptr<flush::Collector> collector_;
  flush::Sequencer sequencer_;
  core::TickConverter clock_;  // ticks are ns here
  filters::NameFilter names_;
  std::uint64_t written_ = 0;
  std::uint64_t before_ = 0;  ///< Operators of the set-up.
  FakeSchema add_{"aten::add", "Tensor"};
  FakeSchema mul_{"aten::mul", "Tensor"};
  FakeSchema relu_{"aten::relu", ""};
};

/// The same for both ways that an event can take.
class op_path_each_way : public op_path, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    op_path::SetUp();
    if (GetParam() == std::string("short")) take_the_short_way();
  }
};

}  // namespace torchtrace::observer
