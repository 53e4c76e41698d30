#include "recovery/recovery.h"

#include <sys/stat.h>

#include <random>

#include "flush/ctf_sink.h"
#include "recovery/clock.h"
#include "recovery/error.h"
#include "recovery/moments.h"
#include "recovery/ring_copy.h"
#include "recovery_support.h"

namespace torchtrace::recovery {
namespace {

class dead_process : public RecoveryTest {
 protected:
  Recovery recover(const std::string& pid) const {
    return Recovery(open_mapping(pid, root_.c_str()));
  }
  torchtrace_receipt receipt_of(const Recovery& recovery) const {
    return write_trace(recovery, root_ + "/out", false).receipt;
  }
};

TEST_F(dead_process, leaves_its_open_stack_and_its_records) {
  const Recovery recovery = recover(kill_after([](Victim& victim) {
    victim.start("outer", 1100);
    victim.run("first", 1200, 1300);
    victim.start("inner", 1400);
    victim.run("second", 1500, 1600);
  }));
  EXPECT_TRUE(recovery.is_dead());
  EXPECT_EQ(recovery.last_sign_ns(), 2000U);  // the last anchor
  const std::vector<ThreadMoments> threads = describe_threads(recovery, 3);
  ASSERT_EQ(threads.size(), 1U);
  ASSERT_EQ(threads[0].open.size(), 2U);
  EXPECT_EQ(threads[0].open[0].name, "outer");
  EXPECT_EQ(threads[0].open[0].open_for_ns, 900U);
  EXPECT_EQ(threads[0].open[1].name, "inner");
  ASSERT_EQ(threads[0].last.size(), 2U);
  EXPECT_EQ(threads[0].last[0].name, "second");
  EXPECT_EQ(threads[0].last[0].dur_ns, 100U);
  const torchtrace_receipt receipt = receipt_of(recovery);
  EXPECT_EQ(receipt.started, 4U);
  EXPECT_EQ(receipt.written, 2U);
  EXPECT_EQ(receipt.open, 2U);
  EXPECT_EQ(receipt.final, 1U);
  EXPECT_EQ(receipt.lost_killed, 0U);
}

TEST_F(dead_process, leaves_records_that_were_drained_and_held_back) {
  const Recovery recovery = recover(kill_after([](Victim& victim) {
    for (int turn = 0; turn < 100; ++turn) victim.run("op", 1100, 1200);
    victim.buffer->header.head.store(100);
  }));
  EXPECT_EQ(receipt_of(recovery).written, 100U);
}

TEST_F(dead_process, loses_what_was_overwritten_and_counts_it) {
  const Recovery recovery = recover(kill_after([](Victim& victim) {
    for (int turn = 0; turn < 3000; ++turn) {
      victim.run("op", 1100, 1200);
      victim.buffer->header.head.store(victim.buffer->header.ring.tail.load());
    }
  }));
  const torchtrace_receipt receipt = receipt_of(recovery);
  EXPECT_EQ(receipt.written, 1023U);  // all but the slot that may have been half written
  EXPECT_EQ(receipt.lost_killed, 3000U - 1023U);
  EXPECT_EQ(receipt.recorded, 3000U);
}

TEST_F(dead_process, killed_between_record_and_frame_has_it_once) {
  const Recovery recovery = recover(kill_after([](Victim& victim) {
    victim.start("op", 1100);
    victim.push(1200);
  }));
  const torchtrace_receipt receipt = receipt_of(recovery);
  EXPECT_EQ(receipt.written, 1U);
  EXPECT_EQ(receipt.open, 0U);
}

TEST_F(dead_process, killed_between_count_and_frame_was_starting) {
  const Recovery recovery = recover(kill_after([](Victim& victim) {
    victim.run("op", 1100, 1200);
    core::bump(victim.buffer->header.last_op_id);
  }));
  EXPECT_TRUE(recovery.evidence().threads[0].was_starting);
  const torchtrace_receipt receipt = receipt_of(recovery);
  EXPECT_EQ(receipt.open, 1U);
  EXPECT_EQ(receipt.started, receipt.written + receipt.open);
}

TEST_F(dead_process, counts_a_drop_once_though_its_frame_is_there) {
  const Recovery recovery = recover(kill_after([](Victim& victim) {
    victim.start("op", 1100);
    core::ThreadHeader& header = victim.buffer->header;
    header.last_loss.store(1);
    core::bump(header.dropped_ring_full);
  }));
  const torchtrace_receipt receipt = receipt_of(recovery);
  EXPECT_EQ(receipt.dropped_ring_full, 1U);
  EXPECT_EQ(receipt.open, 0U);
}

TEST_F(dead_process, counts_a_thread_that_is_being_given_back_once) {
  const Recovery recovery = recover(kill_after([](Victim& victim) {
    for (int turn = 0; turn < 10; ++turn) victim.run("op", 1100, 1200);
    victim.buffer->header.state.store(core::kBufferClosed);
    victim.process.mapping.header().ended.publish(
        {10, 0, 0, 0, 0, 0, 0, 0, victim.buffer->header.slot});
  }));
  EXPECT_EQ(receipt_of(recovery).started, 10U);
}

TEST_F(dead_process, a_half_written_record_is_none) {
  const Recovery recovery = recover(kill_after([](Victim& victim) {
    victim.run("op", 1100, 1200);
    victim.buffer->slots()[1].op_id = 77;
  }));
  EXPECT_EQ(recovery.evidence().records.size(), 1U);
}

/// Writes the first `count` of the victim's operators as its flush thread would.
void write_own_trace(Victim& victim, const std::string& directory, int count) {
  std::filesystem::create_directory(directory);
  flush::CtfSinkOptions options;
  options.output_directory = directory;
  options.trace_name = "own";
  std::string error;
  const auto sink = flush::make_ctf_sink(options, error);
  const auto slot = victim.buffer->header.slot;
  sink->op_begin({1050, 1, 1, core::OpId::make(slot, 1), 0, 0, 0, 0, "outer"});
  for (int number = 0; number < count; ++number) {
    torchtrace_op op{};
    op.ts = 1100;
    op.op_id = core::OpId::make(slot, static_cast<std::uint64_t>(number) + 2);
    op.name = "op";
    sink->op(op);
  }
  sink->close();
  flush::note_trace(victim.process.mapping.header(), directory, "own");
}

TEST_F(dead_process, is_recovered_up_to_where_its_own_trace_ends) {
  const std::string directory = root_ + "/traces";
  const Recovery recovery = recover(kill_after([&](Victim& victim) {
    victim.start("outer", 1050);
    for (int turn = 0; turn < 100; ++turn) victim.run("op", 1100, 1200);
    write_own_trace(victim, directory, 60);
  }));
  EXPECT_EQ(recovery.own_trace().written(), 60U);
  const Written beside = write_trace(recovery, directory, true);
  EXPECT_EQ(beside.folder, directory + "/own-recovered");
  EXPECT_EQ(beside.receipt.written, 100U);
  EXPECT_EQ(beside.receipt.open, 1U);
  const torchtrace_receipt alone = receipt_of(recovery);
  EXPECT_EQ(alone.written, 40U);
  EXPECT_EQ(alone.lost_elsewhere, 60U);
  OwnTrace written;
  written.read(beside.folder, {});
  EXPECT_EQ(written.written(), 40U);
  EXPECT_EQ(written.open().size(), 1U);  // "outer", repeated
  EXPECT_TRUE(written.has_final_receipt());
  EXPECT_THROW(write_trace(recovery, directory, true), Error);  // not twice
}

TEST_F(dead_process, announced_operators_are_closed_once) {
  const std::string directory = root_ + "/traces";
  const Recovery recovery = recover(kill_after([&](Victim& victim) {
    victim.start("outer", 1050);
    victim.run("op", 1100, 1200);
    write_own_trace(victim, directory, 0);
    victim.end(1300);
  }));
  const Written beside = write_trace(recovery, directory, true);
  EXPECT_EQ(beside.receipt.written, 2U);
  OwnTrace written;
  written.read(beside.folder, {});
  EXPECT_EQ(written.written(), 2U);
  EXPECT_TRUE(written.open().empty());
}

TEST_F(dead_process, its_clock_is_made_again) {
  const Recovery recovery = recover(kill_after([](Victim& victim) {
    core::ProcessHeader& header = victim.process.mapping.header();
    flush::note_anchor(header, {3000, 3010, 0, 0});
    flush::note_anchor(header, {4000, 4005, 0, 0});
  }));
  core::TickConverter clock;
  clock.start({1000, 1000, 0, 0}, {2000, 2000, 0, 0});
  clock.add({3000, 3010, 0, 0});
  clock.add({4000, 4005, 0, 0});
  for (const std::uint64_t ticks : {1500U, 2500U, 3500U, 4500U}) {
    EXPECT_EQ(recovery.clock().to_ns(ticks), clock.to_ns(ticks));
  }
}

TEST(ring_copy, only_the_slots_written_meanwhile_are_left_out) {
  const auto whole = [](const RingIndexes& before, const RingIndexes& after) {
    std::string slots;
    for (std::uint64_t index = 0; index < 8; ++index) {
      slots += is_whole_slot(index, 8, before, after) ? 'w' : '-';
    }
    return slots;
  };
  EXPECT_EQ(whole({0, 1}, {0, 1}), "-wwwwwww");
  EXPECT_EQ(whole({5, 6}, {5, 6}), "wwwww-ww");
  EXPECT_EQ(whole({5, 6}, {7, 8}), "wwwww---");
  EXPECT_EQ(whole({7, 8}, {9, 10}), "--wwwww-");
  EXPECT_EQ(whole({8, 8}, {8, 8}), "wwwwwwww") << "full: its producer writes nothing";
  EXPECT_EQ(whole({8, 9}, {16, 17}), "--------") << "lapped";
}

TEST(ring_copy, knows_where_each_policy_writes) {
  core::ThreadHeader header{};
  header.ring.tail.store(20);
  header.head.store(14);
  EXPECT_EQ(RingIndexes::read(header, 8).busy_end, 21U);
  header.head.store(12);
  EXPECT_EQ(RingIndexes::read(header, 8).busy_end, 20U) << "full";
  header.ring_policy = core::kRingOverwriteOldest;
  header.ring_reserved.store(24);
  EXPECT_EQ(RingIndexes::read(header, 8).busy_end, 24U);
  EXPECT_EQ(uncounted_overwritten(header, 8), 4U) << "12 to 15";
  header.head.store(20);
  EXPECT_EQ(uncounted_overwritten(header, 8), 0U);
}

TEST_F(RecoveryTest, a_running_process_is_read_too) {
  Victim victim(root_);
  victim.start("outer", 1100);
  const Recovery recovery(open_mapping(std::to_string(getpid()), root_.c_str()));
  EXPECT_FALSE(recovery.is_dead());
  const torchtrace_receipt receipt = write_trace(recovery, root_ + "/out", false).receipt;
  EXPECT_EQ(receipt.open, 1U);
  EXPECT_EQ(receipt.final, 0U);
  core::ThreadRegistry::forget_this_thread();
}

TEST_F(RecoveryTest, nothing_there_is_one_sentence) {
  try {
    open_mapping("1", root_.c_str());
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("process 1 "), std::string::npos) << error.what();
  }
  EXPECT_THROW(open_mapping("999999999", root_.c_str()), Error);
  EXPECT_THROW(open_mapping("/no/such/folder", root_.c_str()), Error);
}

TEST_F(RecoveryTest, what_others_may_have_changed_is_not_read) {
  const std::string pid = kill_after([](Victim&) {});
  const std::string folder = open_mapping(pid, root_.c_str()).folder;
  EXPECT_NO_THROW(open_mapping(folder));
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
  EXPECT_THROW(open_mapping(folder), Error);
  ASSERT_EQ(chmod(folder.c_str(), 0700), 0);
  const std::string link = root_ + "/link";
  ASSERT_EQ(symlink(folder.c_str(), link.c_str()), 0);
  EXPECT_THROW(open_mapping(link), Error);
  std::filesystem::rename(folder + "/ring", folder + "/elsewhere");
  ASSERT_EQ(symlink("elsewhere", (folder + "/ring").c_str()), 0);
  EXPECT_THROW(open_mapping(folder), Error);
  std::filesystem::remove(folder + "/ring");
  ASSERT_EQ(mkfifo((folder + "/ring").c_str(), 0600), 0);
  EXPECT_THROW(open_mapping(folder), Error);
}

}  // namespace
}  // namespace torchtrace::recovery
