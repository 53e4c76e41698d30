#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

#include "analysis/model_builder.h"
#include "analysis/notes.h"
#include "analysis/receipt_check.h"
#include "analysis/report_json.h"
#include "analysis/report_text.h"
#include "core/record.h"

namespace torchtrace::analysis {
namespace {

constexpr std::uint32_t kPid = 100;

std::uint64_t id(std::uint64_t count) { return core::OpId::make(1, count); }

torchtrace_process process_event(std::uint32_t pid, std::uint64_t start_time) {
  torchtrace_process event{};
  event.pid = pid;
  event.start_time = start_time;
  event.rank = event.world_size = -1;
  event.host = event.command = event.torch_version = event.torch_path = event.torch_layout =
      event.agent_version = event.config_digest = event.clock = "unknown";
  return event;
}

torchtrace_op op_event(std::uint64_t count, std::uint64_t parent, std::uint64_t ts,
                       std::uint64_t dur, const char* name) {
  torchtrace_op event{};
  event.ts = ts;
  event.dur = dur;
  event.pid = kPid;
  event.tid = event.end_tid = kPid + 1;
  event.op_id = id(count);
  event.parent = parent == 0 ? 0 : id(parent);
  event.name = name;
  return event;
}

torchtrace_op_begin begin_event(std::uint64_t count, std::uint64_t ts, const char* name) {
  torchtrace_op_begin event{};
  event.ts = ts;
  event.pid = kPid;
  event.tid = kPid + 1;
  event.op_id = id(count);
  event.name = name;
  return event;
}

torchtrace_op_end end_event(std::uint64_t count, std::uint64_t start, std::uint64_t ts,
                            std::uint8_t outcome, const char* name) {
  torchtrace_op_end event{};
  event.ts = ts;
  event.dur = ts - start;
  event.pid = kPid;
  event.tid = event.end_tid = kPid + 1;
  event.op_id = id(count);
  event.outcome = outcome;
  event.name = name;
  return event;
}

torchtrace_receipt receipt_event(std::uint64_t started) {
  torchtrace_receipt event{};
  event.pid = kPid;
  event.final = 1;
  event.started = event.recorded = event.written = started;
  return event;
}

/// The row of `name`; one without calls where there is none.
OperatorRow row_of(TraceModel& model, const std::string& name) {
  for (const OperatorRow& row : make_operator_rows(model, SortKey::kName)) {
    if (row.name == name) {
      return row;
    }
  }
  return {};
}

bool has_note(const TraceModel& model, const std::string& part) {
  for (const std::string& note : make_notes(model)) {
    if (note.find(part) != std::string::npos) {
      return true;
    }
  }
  return false;
}

nlohmann::json json_of(TraceModel& model) {
  std::ostringstream out;
  write_json_report(model, SortKey::kSelf, out);
  return nlohmann::json::parse(out.str());
}

/// A builder and the trace that its events come from.
struct TracedRun {
  TraceInfo trace;
  ModelBuilder builder;
};

TEST(model, sums_the_calls_of_an_operator) {
  TracedRun run;
  run.builder.on_op(run.trace, op_event(1, 0, 0, 100, "a"));
  run.builder.on_op(run.trace, op_event(2, 1, 10, 30, "b"));
  run.builder.on_op(run.trace, op_event(3, 1, 50, 20, "b"));
  TraceModel result = run.builder.finish();
  const OperatorRow row = row_of(result, "b");
  EXPECT_EQ(row.calls, 2U);
  EXPECT_EQ(row.total_ns, 50U);
  EXPECT_EQ(row.self_ns, 50U);
  EXPECT_EQ(row.min_ns, 20U);
  EXPECT_EQ(row.p50_ns, 20U);
  EXPECT_EQ(row.max_ns, 30U);
  EXPECT_EQ(row_of(result, "a").self_ns, 50U);
  EXPECT_EQ(result.processes.at(0).read, 3U);
}

TEST(model, counts_a_pair_as_one_call_and_repeated_begins_not_at_all) {
  TracedRun run;
  run.builder.on_op_begin(run.trace, begin_event(1, 0, "training"));
  run.builder.on_op_begin(run.trace, begin_event(1, 0, "training"));
  run.builder.on_op_end(run.trace, end_event(1, 0, 500, TORCHTRACE_OUTCOME_ENDED, "training"));
  TraceModel result = run.builder.finish();
  EXPECT_EQ(row_of(result, "training").calls, 1U);
  EXPECT_EQ(row_of(result, "training").total_ns, 500U);
  EXPECT_EQ(result.processes.at(0).read, 1U);
}

TEST(model, leaves_out_what_did_not_end_recorded) {
  TracedRun run;
  for (const std::uint8_t outcome :
       {TORCHTRACE_OUTCOME_DROPPED, TORCHTRACE_OUTCOME_FILTERED, TORCHTRACE_OUTCOME_ABANDONED}) {
    const std::uint64_t start = std::uint64_t{10} * outcome;
    run.builder.on_op_begin(run.trace, begin_event(outcome, start, "long"));
    run.builder.on_op_end(run.trace, end_event(outcome, start, start + 900, outcome, "long"));
  }
  TraceModel result = run.builder.finish();
  EXPECT_EQ(row_of(result, "long").calls, 0U);
  EXPECT_EQ(result.processes.at(0).read, 0U);
  EXPECT_EQ(result.processes.at(0).left_out[TORCHTRACE_OUTCOME_FILTERED], 1U);
  EXPECT_TRUE(result.processes.at(0).open.empty());
}

TEST(model, lists_open_operators_without_a_duration) {
  TracedRun run;
  run.builder.on_op_begin(run.trace, begin_event(1, 70, "training"));
  TraceModel result = run.builder.finish();
  EXPECT_EQ(row_of(result, "training").calls, 0U);
  ASSERT_EQ(result.processes.at(0).open.size(), 1U);
  EXPECT_EQ(result.processes[0].open[0].name, "training");
  EXPECT_EQ(result.processes[0].open[0].start_ns, 70U);
  EXPECT_TRUE(has_note(result,
                       "1 operator of process 100 began and did not end in the trace; no row "
                       "counts them: training"));
}

TEST(model, tells_processes_apart_that_had_the_same_pid) {
  TracedRun run;
  run.builder.on_process(run.trace, process_event(kPid, 1));
  run.builder.on_op(run.trace, op_event(1, 0, 0, 10, "a"));
  run.builder.on_process(run.trace, process_event(kPid, 1));
  run.builder.on_process(run.trace, process_event(kPid, 2));
  run.builder.on_op(run.trace, op_event(1, 0, 100, 10, "a"));
  TraceInfo other_host;
  other_host.host_id = 1;
  run.builder.on_op(other_host, op_event(1, 0, 100, 10, "a"));
  TraceModel result = run.builder.finish();
  ASSERT_EQ(result.processes.size(), 3U);
  EXPECT_EQ(result.processes[0].start_time, 1U);
  EXPECT_EQ(result.processes[1].start_time, 2U);
  EXPECT_FALSE(result.processes[2].start_time.has_value());
  EXPECT_EQ(row_of(result, "a").calls, 3U);
}

TEST(model, joins_events_that_come_before_their_process_is_described) {
  TracedRun run;
  run.builder.on_op(run.trace, op_event(1, 0, 0, 10, "a"));
  run.builder.on_process(run.trace, process_event(kPid, 1));
  EXPECT_EQ(run.builder.finish().processes.size(), 1U);
}

TEST(model, takes_the_thread_from_the_op_id) {
  TracedRun run;
  torchtrace_op event = op_event(1, 0, 0, 10, "a");
  event.op_id = core::OpId::make(3, 1);
  run.builder.on_op(run.trace, event);
  torchtrace_thread thread{};
  thread.pid = kPid;
  thread.tid = 7;
  thread.slot = 3;
  thread.name = "worker";
  run.builder.on_thread(run.trace, thread);
  const TraceModel result = run.builder.finish();
  ASSERT_EQ(result.processes.at(0).threads.size(), 1U);
  EXPECT_EQ(result.processes[0].threads[0].name, "worker");
  EXPECT_EQ(result.processes[0].threads[0].calls, 1U);
  EXPECT_EQ(result.processes[0].threads[0].self_ns, 10U);
}

TEST(model, ignores_operators_without_an_identity) {
  TracedRun run;
  torchtrace_op event = op_event(1, 0, 0, 10, "a");
  event.op_id = 0;
  run.builder.on_op(run.trace, event);
  EXPECT_TRUE(has_note(run.builder.finish(), "had no op_id"));
}

TEST(model, has_no_notes_where_everything_adds_up) {
  TracedRun run;
  run.builder.on_op(run.trace, op_event(1, 0, 0, 10, "a"));
  run.builder.on_receipt(run.trace, receipt_event(1));
  const TraceModel result = run.builder.finish();
  EXPECT_TRUE(check_receipts(result).holds());
  EXPECT_TRUE(check_receipts(result).is_final);
  EXPECT_TRUE(make_notes(result).empty());
}

TEST(model, says_which_sum_of_a_receipt_does_not_hold) {
  TracedRun run;
  run.builder.on_op(run.trace, op_event(1, 0, 0, 10, "a"));
  torchtrace_receipt receipt = receipt_event(1);
  receipt.started = 5;
  receipt.dropped_ring_full = 2;
  receipt.recorded = 2;
  run.builder.on_receipt(run.trace, receipt);
  const TraceModel result = run.builder.finish();
  EXPECT_EQ(check_receipts(result).started_difference, 1);
  EXPECT_EQ(check_receipts(result).recorded_difference, 1);
  EXPECT_TRUE(has_note(result, "started is 1 more than"));
  EXPECT_TRUE(has_note(result, "recorded is 1 more than"));
  EXPECT_TRUE(has_note(result, "2 operators were dropped: ring_full"));
}

TEST(model, compares_what_was_read_with_what_was_written) {
  TracedRun run;
  run.builder.on_op(run.trace, op_event(1, 0, 0, 10, "a"));
  run.builder.on_receipt(run.trace, receipt_event(3));
  TraceModel result = run.builder.finish();
  EXPECT_FALSE(check_receipts(result).holds());
  EXPECT_TRUE(has_note(result, "wrote 3 operators by its receipt, but 1 were read"));

  result.read.traces.resize(1);
  result.read.traces[0].discarded_events = 2;
  EXPECT_FALSE(check_receipts(result).holds()) << "not LTTng's: in the receipt";
  result.read.traces[0].info.tracer = "lttng-ust";
  EXPECT_TRUE(check_receipts(result).holds()) << "the tracer discarded them, and said so";
  EXPECT_EQ(json_of(result)["receipt"]["lost"]["lttng"], 2);
  EXPECT_TRUE(has_note(result, "had no room for 2 events"));
}

TEST(model, counts_what_was_read_up_to_a_periodic_receipt) {
  TracedRun run;
  run.builder.on_op(run.trace, op_event(1, 0, 0, 10, "a"));
  torchtrace_receipt receipt = receipt_event(1);
  receipt.final = 0;
  run.builder.on_receipt(run.trace, receipt);
  run.builder.on_op(run.trace, op_event(2, 0, 20, 10, "a"));
  TraceModel result = run.builder.finish();
  EXPECT_TRUE(check_receipts(result).holds());
  EXPECT_FALSE(check_receipts(result).is_final);
  EXPECT_EQ(json_of(result)["receipt"]["written"], 2);
  EXPECT_TRUE(has_note(result, "left no final receipt"));
}

TEST(model, has_null_for_what_is_not_known) {
  TracedRun run;
  run.builder.on_op(run.trace, op_event(1, 0, 0, 10, "a"));
  TraceModel result = run.builder.finish();
  const nlohmann::json json = json_of(result);
  EXPECT_EQ(json["schema"], "torchtrace.report/1");
  EXPECT_TRUE(json["receipt"]["started"].is_null());
  EXPECT_TRUE(json["receipt"]["lost"]["elsewhere"].is_null());
  EXPECT_EQ(json["receipt"]["dropped"]["ring_full"], 0) << "never null";
  EXPECT_TRUE(json["receipt"]["filtered"].is_object());
  EXPECT_EQ(json["receipt"]["written"], 1);
  EXPECT_TRUE(json["receipt"]["commands"]["appended"].is_null());
  EXPECT_TRUE(json["processes"][0]["rank"].is_null());
  EXPECT_TRUE(json["operators"][0]["device_ns"].is_null());
  EXPECT_TRUE(json["operators"][0]["standard_error"].is_null());
  EXPECT_EQ(json["operators"][0]["self_ns"], 10);
  EXPECT_TRUE(has_note(result, "left no receipt"));
}

TEST(model, survives_names_that_are_no_utf8) {
  TracedRun run;
  run.builder.on_op(run.trace, op_event(1, 0, 0, 10, "a\xff"));
  TraceModel result = run.builder.finish();
  EXPECT_EQ(json_of(result)["operators"][0]["calls"], 1);
}

TEST(model, sorts_by_any_column) {
  TracedRun run;
  run.builder.on_op(run.trace, op_event(1, 0, 0, 100, "few_long"));
  run.builder.on_op(run.trace, op_event(2, 0, 200, 10, "many_short"));
  run.builder.on_op(run.trace, op_event(3, 0, 300, 20, "many_short"));
  TraceModel result = run.builder.finish();
  for (const std::string& key : sort_key_names()) {
    const auto rows = make_operator_rows(result, parse_sort_key(key).value());
    const bool short_first = key == "calls";
    EXPECT_EQ(rows[0].name, short_first ? "many_short" : "few_long") << key;
  }
  EXPECT_FALSE(parse_sort_key("colour").has_value());
}

TEST(model, shows_the_first_operators_and_how_many_more_there_are) {
  TracedRun run;
  run.builder.on_op(run.trace, op_event(1, 0, 0, 100, "first"));
  run.builder.on_op(run.trace, op_event(2, 0, 200, 10, "second"));
  TraceModel result = run.builder.finish();
  std::ostringstream out;
  TextReportOptions options;
  options.top = 1;
  write_text_report(result, options, out);
  EXPECT_NE(out.str().find("first"), std::string::npos);
  EXPECT_EQ(out.str().find("second"), std::string::npos);
  EXPECT_NE(out.str().find("and 1 more; --top 0 shows all"), std::string::npos) << out.str();
}

}  // namespace
}  // namespace torchtrace::analysis
