#include <malloc.h>

#include <thread>

#include "core/full_ring.h"
#include "observer_op_path.h"

/// What a flight recorder finds in rings that nobody drains.
namespace torchtrace::observer {
namespace {

constexpr std::uint64_t kRingBytes = 64U << 10U;
constexpr std::uint64_t kSlots = kRingBytes / sizeof(core::Record);

class dump : public op_path {
 protected:
  void SetUp() override {
    op_path::SetUp();
    core::ThreadRegistry::forget_this_thread();
    core::g_process.store(nullptr);
    make_process(kRingBytes, 4, core::kRingOverwriteOldest);
  }

  void run(const FakeSchema& schema, std::uint64_t count) const {
    FakeRecordFunction function(schema, Scope::kFunction);
    for (std::uint64_t call = 0; call < count; ++call) {
      begin(function);
      end(function);
    }
  }

  /// True if what was collected adds up with what was counted, over all dumps.
  bool collect_once() {
    sequencer_.hold();
    collector_->collect_instants(sequencer_);
    const flush::Totals& totals = collector_->totals_as_collected();
    return totals.started ==
           earlier_ + sequencer_.pending() + totals.filtered + totals.dropped() + totals.open;
  }

  void end_dump() {
    earlier_ += sequencer_.pending();
    const std::uint64_t now = core::read_ticks();
    sequencer_.advance(now, now, clock_, [](const SequencedOp&) {});
  }

  std::uint64_t earlier_ = 0;
};

TEST_F(dump, adds_up_with_an_operator_open) {
  run(add_, 5 * kSlots);
  FakeRecordFunction open(mul_, Scope::kFunction);
  begin(open);
  run(relu_, 3);
  EXPECT_TRUE(collect_once());
  EXPECT_EQ(collector_->totals_as_collected().open, 1U);
  EXPECT_EQ(collector_->totals_as_collected().started, 5 * kSlots + 4);
  end_dump();
  end(open);
  run(relu_, 2);
  EXPECT_TRUE(collect_once());
  EXPECT_EQ(sequencer_.pending(), 3U) << "each operator is in one dump";
}

/// A thread that never rests: what is taken of it is what there was at one instant.
TEST_F(dump, adds_up_while_a_thread_runs_on) {
  std::atomic<bool> is_done{false};
  std::thread worker([&] {
    FakeRecordFunction outer(mul_, Scope::kFunction);
    while (!is_done.load()) {
      begin(outer);
      run(add_, 7);
      end(outer);
    }
  });
  int exact = 0;
  constexpr int kDumps = 200;
  for (int count = 0; count < kDumps; ++count) {
    bool adds_up = false;
    for (int attempt = 0; attempt < 20 && !adds_up; ++attempt) adds_up = collect_once();
    exact += adds_up ? 1 : 0;
    end_dump();
  }
  is_done.store(true);
  worker.join();
  EXPECT_GE(exact, kDumps * 9 / 10) << "preempted between two stores only now and then";
  EXPECT_TRUE(collect_once()) << "nothing was lost or counted twice in between";
}

TEST_F(dump, keeps_what_an_ended_thread_has_run_for_as_long_as_the_ring_holds) {
  std::thread([&] { run(add_, 10); }).join();
  collector_->release_ended(0);
  EXPECT_TRUE(collect_once());
  EXPECT_EQ(sequencer_.pending(), 10U);
  end_dump();
  std::thread([&] { run(add_, 10); }).join();
  collector_->release_ended(core::read_ticks());
  EXPECT_TRUE(collect_once());
  EXPECT_EQ(sequencer_.pending(), 0U);
  EXPECT_EQ(collector_->totals_as_collected().dropped_overwritten, 10U);
}

TEST_F(dump, gives_the_buffer_of_the_thread_that_ended_first_to_a_new_one) {
  for (int count = 0; count < 4; ++count) std::thread([&] { run(add_, 10); }).join();
  collector_->release_ended(0);  // no thread left, all four buffers taken
  std::thread([&] { run(mul_, 5); }).join();
  EXPECT_TRUE(collect_once());
  EXPECT_EQ(collector_->totals_as_collected().dropped_no_buffer, 0U);
  EXPECT_EQ(sequencer_.pending(), 35U);
}

/// Threads come and go, and each dump takes all there is.
TEST_F(dump, takes_no_more_memory_the_more_there_were) {
  const auto dump_once = [&] {
    std::thread([&] { run(add_, 2 * kSlots); }).join();
    run(relu_, 2 * kSlots);
    collect_once();
    end_dump();
    collector_->take_new_threads();
    collector_->take_losses();
    collector_->forget_ended();
  };
  constexpr int kWarmUp = 64;
  constexpr int kDumps = 512;
  for (int count = 0; count < kWarmUp; ++count) dump_once();
  const std::size_t before = mallinfo2().uordblks;
  for (int count = 0; count < kDumps; ++count) dump_once();
  const std::size_t after = mallinfo2().uordblks;
  EXPECT_LT(after, before + std::size_t{kDumps} * 16) << "per dump and thread that has ended";
}

class filtered_dump : public dump {
 protected:
  void SetUp() override {
    names_ = filters::NameFilter({}, {"aten::mul*"});
    dump::SetUp();
  }
};

TEST_F(filtered_dump, adds_up_with_what_was_left_out) {
  run(add_, 10);
  FakeRecordFunction open(mul_, Scope::kFunction);
  begin(open);
  run(mul_, 3);
  EXPECT_TRUE(collect_once());
  EXPECT_EQ(collector_->totals_as_collected().filtered, 4U);
  const flush::Totals before = collector_->totals_as_collected();
  end_dump();
  run(mul_, 5);
  EXPECT_TRUE(collect_once());
  flush::Totals since = collector_->totals_as_collected();
  since.subtract(before);
  EXPECT_EQ(since.filtered, 5U);
  EXPECT_EQ(since.started, 5U);
}

}  // namespace
}  // namespace torchtrace::observer
