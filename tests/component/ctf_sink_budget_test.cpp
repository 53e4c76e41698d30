// The sink within the budget of its directory: every operator is in a file or counted as lost.
#include <cstdio>
#include <ctime>

#include "ctf_sink_fixture.h"
#include "ctf_trace.h"
#include "flush/ctf/disk_budget.h"

namespace torchtrace::flush {
namespace {

class ctf_sink_budget : public CtfSinkFixture {
 protected:
  CtfSinkOptions bounded(std::uint64_t max_bytes, config::WhenFull when_full,
                         const char* name = "trace") const {
    CtfSinkOptions bounded = options(name);
    bounded.max_bytes = max_bytes;
    bounded.when_full = when_full;
    return bounded;
  }
};

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

TEST_F(ctf_sink_budget, keeps_the_newest_operators_and_counts_the_others) {
  const auto sink = make(bounded(kMiB, config::WhenFull::kRotate));
  ASSERT_TRUE(sink) << error_;
  feed(*sink, 100'000);
  EXPECT_EQ(sum(sink->counts()), 100'000U);
  EXPECT_GT(sink->counts().lost_rotated_out, 80'000U);
  EXPECT_LE(traces_size_bytes(directory_), kMiB);
  finish(*sink, 100'000);
  const CtfTrace trace = read_ctf_trace(folder());
  EXPECT_TRUE(trace.is_continuous());
  ASSERT_EQ(trace.receipts.size(), 1U);
  EXPECT_EQ(trace.operators, trace.receipts[0].written);
  EXPECT_EQ(trace.receipts[0].written + trace.receipts[0].lost_rotated_out, 100'000U);
}

TEST_F(ctf_sink_budget, stops_when_told_to_and_still_writes_the_receipt) {
  const auto sink = make(bounded(kMiB, config::WhenFull::kStop));
  ASSERT_TRUE(sink) << error_;
  feed(*sink, 100'000);
  finish(*sink, 100'000);
  const CtfTrace trace = read_ctf_trace(folder());
  EXPECT_LE(traces_size_bytes(directory_), kMiB);
  EXPECT_GT(traces_size_bytes(directory_), kMiB - 3 * kCtfPacketBytes);
  ASSERT_EQ(trace.receipts.size(), 1U);
  EXPECT_EQ(trace.operators, trace.receipts[0].written);
  EXPECT_EQ(trace.receipts[0].written + trace.receipts[0].lost_disk_full, 100'000U);
  EXPECT_EQ(trace.packets.back().events_discarded, trace.receipts[0].lost_disk_full);
}

TEST_F(ctf_sink_budget, counts_in_the_last_receipt_what_is_lost_on_its_own_way_to_the_disk) {
  for (const config::WhenFull when_full : {config::WhenFull::kStop, config::WhenFull::kRotate}) {
    const char* const name = when_full == config::WhenFull::kStop ? "stop" : "rotate";
    const auto sink = make(bounded(kMiB / 16, when_full, name));
    ASSERT_TRUE(sink) << error_;
    feed(*sink, 640);  // 15 packets and a part: all still in memory
    EXPECT_EQ(sink->counts().written, 640U);
    finish(*sink, 640);
    const CtfTrace trace = read_ctf_trace(folder(name));
    ASSERT_EQ(trace.receipts.size(), 1U);
    const torchtrace_receipt& receipt = trace.receipts[0];
    EXPECT_LT(receipt.written, 640U);
    EXPECT_EQ(receipt.written, trace.operators);
    EXPECT_EQ(receipt.written + receipt.lost_disk_full + receipt.lost_rotated_out, 640U);
    std::filesystem::remove_all(folder(name));
  }
}

TEST_F(ctf_sink_budget, asks_for_state_in_time_for_each_new_file_to_begin_with_it) {
  const auto sink = make(bounded(4 * kMiB, config::WhenFull::kRotate));
  ASSERT_TRUE(sink) << error_;
  int asked = 0;
  for (int period = 0; period < 300; ++period) {
    if (sink->wants_state()) {
      ++asked;
      sink->process(torchtrace_process{});
      EXPECT_FALSE(sink->wants_state()) << "asked twice for one file";
    }
    feed(*sink, 100);
    sink->end_of_period(now_ns_ += 10'000'000);
  }
  sink->close();
  const CtfTrace trace = read_ctf_trace(folder());
  EXPECT_GT(trace.first_ids.size(), 3U);
  EXPECT_EQ(asked, static_cast<int>(trace.first_ids.size()));
  for (const std::uint8_t id : trace.first_ids) {
    EXPECT_EQ(id, static_cast<std::uint8_t>(CtfEventId::k_process));
  }
}

TEST_F(ctf_sink_budget, ends_no_file_that_has_just_begun) {
  const auto sink = make(bounded(4 * kMiB, config::WhenFull::kRotate));
  ASSERT_TRUE(sink) << error_;
  constexpr std::uint64_t kPacketsPerFile = 4 * kMiB / 16 / kCtfPacketBytes;
  constexpr std::uint64_t kOperatorsPerPacket = 42;
  // The first file is full to its last packet, the beginning of the next is still in memory.
  feed(*sink, kPacketsPerFile * kOperatorsPerPacket + 10);
  sink->end_of_period(now_ns_);
  feed(*sink, 2 * kOperatorsPerPacket);
  sink->close();
  EXPECT_EQ(std::filesystem::file_size(folder() + "/stream-000000"),
            kPacketsPerFile * kCtfPacketBytes);
  EXPECT_EQ(std::filesystem::file_size(folder() + "/stream-000001"), 3 * kCtfPacketBytes);
}

TEST_F(ctf_sink_budget, is_shared_by_processes_that_begin_one_after_the_other) {
  constexpr std::uint64_t kBudget = 8 * kMiB;
  std::unique_ptr<Sink> sinks[4];
  const char* const names[] = {"a", "b", "c", "d"};
  std::uint64_t fed[4] = {};
  for (int begun = 0; begun < 4; ++begun) {
    sinks[begun] = make(bounded(kBudget, config::WhenFull::kRotate, names[begun]));
    ASSERT_TRUE(sinks[begun]) << error_;
    for (int turn = 0; turn < 50 * (begun + 1); ++turn) {
      feed(*sinks[turn % (begun + 1)], 2000);
      fed[turn % (begun + 1)] += 2000;
    }
    EXPECT_LE(traces_size_bytes(directory_), kBudget);
  }
  for (int i = 0; i < 4; ++i) {
    finish(*sinks[i], fed[i]);
    EXPECT_EQ(sum(sinks[i]->counts()), fed[i]);
    EXPECT_EQ(sinks[i]->counts().lost_disk_full, 0U);
    EXPECT_EQ(read_ctf_trace(folder(names[i])).operators, sinks[i]->counts().written);
  }
}

TEST_F(ctf_sink_budget, does_not_count_what_else_lies_in_the_directory) {
  std::filesystem::create_directory(directory_ + "/models");
  const std::string weights = directory_ + "/models/weights.bin";
  std::fclose(std::fopen(weights.c_str(), "w"));
  std::filesystem::resize_file(weights, 100 * kMiB);
  const auto sink = make(bounded(kMiB, config::WhenFull::kStop));
  ASSERT_TRUE(sink) << error_;
  feed(*sink, 1000);
  sink->close();
  EXPECT_EQ(sink->counts().written, 1000U);
}

TEST_F(ctf_sink_budget, writes_a_packet_that_is_not_full_once_it_is_old) {
  const auto sink = make(options());
  ASSERT_TRUE(sink) << error_;
  feed(*sink, 3);
  sink->end_of_period(now_ns_);
  sink->end_of_period(now_ns_ + 99'000'000);
  EXPECT_EQ(read_ctf_trace(folder()).operators, 0U);
  sink->end_of_period(now_ns_ + 100'000'000);
  EXPECT_EQ(read_ctf_trace(folder()).operators, 3U);
}

TEST_F(ctf_sink_budget, keeps_up_with_two_million_operators) {
  const auto sink = make(options());
  ASSERT_TRUE(sink) << error_;
  constexpr std::uint64_t kOperators = 2'000'000;
  timespec begin{};
  timespec end{};
  ::clock_gettime(CLOCK_MONOTONIC, &begin);
  feed(*sink, kOperators);
  finish(*sink, kOperators);
  ::clock_gettime(CLOCK_MONOTONIC, &end);
  const double seconds = static_cast<double>(end.tv_sec - begin.tv_sec) +
                         static_cast<double>(end.tv_nsec - begin.tv_nsec) / 1e9;
  std::printf("%.2f M operators/s, %.0f ns each\n", kOperators / seconds / 1e6,
              seconds * 1e9 / kOperators);
  EXPECT_EQ(read_ctf_trace(folder()).operators, kOperators);
}

}  // namespace
}  // namespace torchtrace::flush
