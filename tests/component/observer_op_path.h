#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

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
    start(fakes::fake_torch_library(), scopes);
    callbacks_ = op_callbacks(StringAbi::kCxx11);
  }

  void TearDown() override {
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

  /// started = written + dropped + open, and nothing settles when no thread runs.
  void expect_sum() {
    const flush::Totals totals = collector_->totals();
    EXPECT_EQ(totals.started, written_ + totals.dropped() + totals.open);
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
  std::uint64_t written_ = 0;
  FakeSchema add_{"aten::add", "Tensor"};
  FakeSchema mul_{"aten::mul", "Tensor"};
  FakeSchema relu_{"aten::relu", ""};
};

}  // namespace torchtrace::observer
