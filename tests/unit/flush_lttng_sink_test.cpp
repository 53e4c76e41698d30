#include <gtest/gtest.h>

#include "flush/lttng_sink.h"

namespace torchtrace::flush {
namespace {

/// The state behind a provider table without LTTng. Tables hold plain functions: hence a static.
struct FakeLttng {
  int sessions = 0;
  int operators_enabled_in = 0;
  int emitted = 0;
};
FakeLttng fake;

torchtrace_lttng_provider fake_provider() {
  torchtrace_lttng_provider table{};
  table.version = TORCHTRACE_LTTNG_PROVIDER_VERSION;
  table.struct_size = sizeof(table);
#define FAKE_MEMBERS(NAME, name)                                        \
  table.emit_##name = [](const torchtrace_##name*) { ++fake.emitted; }; \
  table.enabled_##name = [] { return fake.sessions; };
  TORCHTRACE_EVENTS(FAKE_MEMBERS)
#undef FAKE_MEMBERS
  table.recording_sessions = [] { return fake.sessions; };
  table.enabled_op = [] { return fake.operators_enabled_in; };
  return table;
}

class lttng_sink : public testing::Test {
 protected:
  lttng_sink() : provider_(fake_provider()) { fake = FakeLttng{}; }

  void sessions(int count) { fake.sessions = fake.operators_enabled_in = count; }
  void make() { sink_ = make_lttng_sink(provider_); }
  void op() { sink_->op(torchtrace_op{}); }
  void op_end(std::uint8_t outcome) {
    torchtrace_op_end event{};
    event.outcome = outcome;
    sink_->op_end(event);
  }
  bool period_wants_state() {
    sink_->end_of_period(0);
    return sink_->wants_state();
  }

  torchtrace_lttng_provider provider_;
  std::unique_ptr<Sink> sink_;
};

TEST_F(lttng_sink, makes_no_tracepoint_call_while_nothing_is_enabled) {
  make();
  sink_->process(torchtrace_process{});
  sink_->thread(torchtrace_thread{});
  op();
  sink_->op_begin(torchtrace_op_begin{});
  op_end(TORCHTRACE_OUTCOME_ENDED);
  sink_->loss(torchtrace_loss{});
  sink_->receipt(torchtrace_receipt{});
  EXPECT_EQ(fake.emitted, 0);
  EXPECT_EQ(sink_->counts().lost_elsewhere, 2U);
  EXPECT_EQ(sink_->counts().written, 0U);
}

TEST_F(lttng_sink, counts_an_operator_once_when_it_is_known_to_have_ended) {
  sessions(1);
  make();
  op();
  sink_->op_begin(torchtrace_op_begin{});
  for (const int outcome : {TORCHTRACE_OUTCOME_ENDED, TORCHTRACE_OUTCOME_DROPPED,
                            TORCHTRACE_OUTCOME_FILTERED, TORCHTRACE_OUTCOME_ABANDONED}) {
    op_end(static_cast<std::uint8_t>(outcome));
  }
  EXPECT_EQ(fake.emitted, 6);
  EXPECT_EQ(sink_->counts().written, 2U);
}

TEST_F(lttng_sink, asks_for_the_state_once_for_each_session_that_begins) {
  make();
  EXPECT_FALSE(period_wants_state());
  sessions(1);
  EXPECT_TRUE(period_wants_state());
  EXPECT_FALSE(period_wants_state());
  sessions(2);
  EXPECT_TRUE(period_wants_state());
  sessions(1);
  EXPECT_FALSE(period_wants_state());
  sessions(0);
  EXPECT_FALSE(period_wants_state());
  sessions(1);
  EXPECT_TRUE(period_wants_state());
}

TEST_F(lttng_sink, asks_for_the_state_at_once_where_a_session_was_first) {
  sessions(1);
  make();
  EXPECT_TRUE(sink_->wants_state());
  EXPECT_FALSE(period_wants_state());
}

TEST_F(lttng_sink, sends_operators_only_behind_the_state_that_a_new_session_begins_with) {
  make();
  sessions(1);
  op();
  EXPECT_EQ(fake.emitted, 0);
  EXPECT_TRUE(period_wants_state());
  op();
  EXPECT_EQ(fake.emitted, 1);
  EXPECT_EQ(sink_->counts().written, 1U);
  EXPECT_EQ(sink_->counts().lost_elsewhere, 1U);
}

TEST_F(lttng_sink, moves_what_an_earlier_session_got_to_elsewhere) {
  sessions(1);
  make();
  EXPECT_TRUE(sink_->wants_state());
  op();
  op();
  sessions(0);
  op();
  EXPECT_FALSE(period_wants_state());
  EXPECT_EQ(sink_->counts().written, 2U);
  sessions(1);
  EXPECT_TRUE(period_wants_state());
  op();
  EXPECT_EQ(sink_->counts().written, 1U);
  EXPECT_EQ(sink_->counts().lost_elsewhere, 3U);
}

TEST_F(lttng_sink, counts_operators_elsewhere_where_a_session_leaves_their_event_out) {
  fake.sessions = 1;
  make();
  op();
  op_end(TORCHTRACE_OUTCOME_ENDED);
  EXPECT_EQ(sink_->counts().lost_elsewhere, 1U);
  EXPECT_EQ(sink_->counts().written, 1U);
}

TEST_F(lttng_sink, a_library_that_is_not_there_is_one_sentence_with_its_path) {
  std::string error;
  EXPECT_EQ(load_lttng_provider("/nonexistent/libtorchtrace-lttng.so", error), nullptr);
  EXPECT_NE(error.find("/nonexistent/libtorchtrace-lttng.so"), std::string::npos);
}

TEST_F(lttng_sink, a_library_without_the_table_is_refused) {
  std::string error;
  EXPECT_EQ(load_lttng_provider("libm.so.6", error), nullptr);
  EXPECT_NE(error.find(TORCHTRACE_LTTNG_PROVIDER_SYMBOL), std::string::npos);
}

}  // namespace
}  // namespace torchtrace::flush
