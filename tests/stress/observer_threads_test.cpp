#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "core/events.h"
#include "core/process.h"
#include "fakes/fake_torch.h"
#include "flush/collector.h"
#include "flush/sequencer.h"
#include "observer/layout_check.h"
#include "observer/observer.h"
#include "observer/op_callbacks.h"

/// Threads that come and go and run operators as fast as they can, while another one reads their
/// stacks and drains their rings: for ThreadSanitizer and AddressSanitizer, and for the sums.
namespace torchtrace::observer {
namespace {

using core::Scope;
using fakes::FakeRecordFunction;
using fakes::FakeSchema;

core::Process* g_test_process = nullptr;

core::Process* activate_test_process() noexcept {
  core::g_process.store(g_test_process);
  return g_test_process;
}

/// User scopes that are open, for any thread to end.
class OpenScopes {
 public:
  struct Scope {
    std::unique_ptr<FakeRecordFunction> function;
    std::unique_ptr<ObserverContext> context;
  };

  void put(Scope scope) {
    const std::lock_guard<std::mutex> lock(mutex_);
    scopes_.push_back(std::move(scope));
  }

  bool take(Scope& scope) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (scopes_.empty()) return false;
    scope = std::move(scopes_.back());
    scopes_.pop_back();
    return true;
  }

 private:
  std::mutex mutex_;
  std::vector<Scope> scopes_;
};

class observer_threads : public testing::Test {
 protected:
  void SetUp() override {
    char path[] = "/tmp/torchtrace-stress-XXXXXX";
    root_ = mkdtemp(path);
    g_test_process = new core::Process;  // leaked, as in the agent
    core::Mapping::Options options;
    options.ring_bytes = 64U << 10U;
    options.max_buffers = 64;
    options.root = root_.c_str();
    ASSERT_TRUE(g_test_process->mapping.create(options));
    ASSERT_TRUE(g_test_process->names.create(g_test_process->mapping));
    ASSERT_TRUE(g_test_process->threads.create(g_test_process->mapping));
    core::g_activate = activate_test_process;
    forget_verdict();
    std::array<bool, core::kScopeCount> scopes{};
    scopes[static_cast<std::size_t>(Scope::kFunction)] = true;
    scopes[static_cast<std::size_t>(Scope::kUserScope)] = true;
    TorchLibrary torch = fakes::fake_torch_library();
    torch.current_thread_id = nullptr;  // all fakes say thread 1
    static const filters::NameFilter all_names;
    start(torch, scopes, all_names);
    callbacks_ = op_callbacks(StringAbi::kCxx11);
  }

  void TearDown() override {
    core::ThreadRegistry::forget_this_thread();
    core::g_process.store(nullptr);
    std::filesystem::remove_all(root_);
  }

  void run_tree(std::mt19937& random, int depth) {
    FakeRecordFunction function(schemas_[random() % schemas_.size()], Scope::kFunction);
    callbacks_.start(function.event());
    ++started_;
    for (unsigned child = random() % 3; child != 0 && depth < 6; --child) {
      run_tree(random, depth + 1);
    }
    if (random() % 50 == 0) open_scope(random);
    OpenScopes::Scope scope;
    if (random() % 50 == 0 && scopes_.take(scope)) end_scope(scope);
    callbacks_.end(function.event(), nullptr);
  }

  void open_scope(std::mt19937& random) {
    OpenScopes::Scope scope;
    scope.function = std::make_unique<FakeRecordFunction>("scope " + std::to_string(random() % 5),
                                                          Scope::kUserScope);
    scope.context = callbacks_.start(scope.function->event());
    ++started_;
    scopes_.put(std::move(scope));
  }

  void end_scope(OpenScopes::Scope& scope) {
    callbacks_.end(scope.function->event(), scope.context.get());
    scope.context.reset();
  }

  std::string root_;
  OpCallbacks callbacks_{};
  std::array<FakeSchema, 4> schemas_{FakeSchema{"aten::add", "Tensor"},
                                     {"aten::mul", "Scalar"},
                                     {"aten::relu", ""},
                                     {"aten::a_name_that_is_long", "out"}};
  OpenScopes scopes_;
  std::atomic<std::uint64_t> started_{0};
};

TEST_F(observer_threads, come_and_go_and_every_operator_is_accounted_for) {
  constexpr int kThreads = 4;
  constexpr int kGenerations = 40;
  std::atomic<bool> done{false};
  std::vector<std::thread> generations;
  generations.reserve(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    generations.emplace_back([this, thread] {
      for (int generation = 0; generation < kGenerations; ++generation) {
        std::thread([this, seed = thread * 1000 + generation] {
          std::mt19937 random(static_cast<unsigned>(seed));
          // A thread whose first event is the end of what another one began.
          OpenScopes::Scope scope;
          if (seed % 2 == 0 && scopes_.take(scope)) end_scope(scope);
          for (int tree = 0; tree < 500; ++tree) run_tree(random, 0);
        }).join();
      }
    });
  }
  std::thread([&] {
    for (std::thread& thread : generations) thread.join();
    OpenScopes::Scope scope;
    while (scopes_.take(scope)) end_scope(scope);
    done.store(true);
  }).detach();

  flush::Collector collector(*g_test_process);
  flush::Sequencer sequencer;
  core::TickConverter clock;
  std::uint64_t ended = 0;
  std::uint64_t begun = 0;
  std::uint64_t closed = 0;
  for (int after = 0; after < 3;) {
    if (done.load()) ++after;
    const std::uint64_t now = core::read_ticks();
    collector.collect(sequencer);
    const std::uint64_t watermark = after > 0 ? core::read_ticks() : now - 2'000'000;
    sequencer.advance(watermark, now, clock, [&](const flush::SequencedOp& op) {
      begun += op.kind == flush::OpKind::kBegin ? 1 : 0;
      closed += op.kind == flush::OpKind::kEnd ? 1 : 0;
      ended += op.kind != flush::OpKind::kBegin && op.outcome == TORCHTRACE_OUTCOME_ENDED ? 1 : 0;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const flush::Totals totals = collector.totals();
  EXPECT_EQ(totals.started, started_.load());
  EXPECT_EQ(totals.open, 0U);
  EXPECT_EQ(totals.dropped_abandoned, 0U);
  EXPECT_EQ(totals.started, ended + totals.dropped());
  EXPECT_EQ(begun, closed);
  EXPECT_EQ(sequencer.announced(), 0U);
}

}  // namespace
}  // namespace torchtrace::observer
