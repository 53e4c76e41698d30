#include <gtest/gtest.h>

#include <sstream>

#include "analysis/bt_error.h"
#include "analysis/event_printer.h"
#include "analysis/text_table.h"
#include "analysis/trace_error.h"
#include "analysis/units.h"
#include "core/record.h"

namespace torchtrace::analysis {
namespace {

TEST(units, show_durations_with_four_digits_at_most) {
  EXPECT_EQ(format_duration(0), "0 ns");
  EXPECT_EQ(format_duration(987), "987 ns");
  EXPECT_EQ(format_duration(999.9), "1.000 us");
  EXPECT_EQ(format_duration(1000), "1.000 us");
  EXPECT_EQ(format_duration(12'340), "12.34 us");
  EXPECT_EQ(format_duration(99'996), "100.0 us");
  EXPECT_EQ(format_duration(999'960), "1.000 ms");
  EXPECT_EQ(format_duration(1.5e9), "1.500 s");
  EXPECT_EQ(format_duration(86'400e9), "86400 s");
}

TEST(units, show_counts_with_separators) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(1'234'567), "1,234,567");
  EXPECT_EQ(format_count(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(units, show_shares) {
  EXPECT_EQ(format_share(1, 8), "12.5%");
  EXPECT_EQ(format_share(0, 8), "0.0%");
  EXPECT_EQ(format_share(0, 0), "-");
}

TEST(text_table, shortens_the_middle) {
  EXPECT_EQ(shorten("aten::add", 9), "aten::add");
  EXPECT_EQ(shorten("aten::add.Tensor", 10), "aten..nsor");
  EXPECT_EQ(shorten("aten::add", 2), "at");
  EXPECT_EQ(shorten("éèàù", 4), "éèàù") << "characters count, not bytes";
}

std::string printed(const TextTable& table, const TextStyle& style) {
  std::ostringstream out;
  table.print(out, style);
  return out.str();
}

TEST(text_table, aligns_names_left_and_numbers_right) {
  TextTable table({"operator", "calls"});
  table.add_row({"aten::mm", "7"});
  table.add_row({"x", "1,000"});
  EXPECT_EQ(printed(table, {}),
            "operator  calls\n"
            "aten::mm      7\n"
            "x         1,000\n");
}

TEST(text_table, fits_the_width_by_shortening_names) {
  TextTable table({"operator", "calls"});
  table.add_row({"a_very_long_operator_name_that_does_not_fit", "12"});
  std::istringstream lines(printed(table, {30, false}));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 30U) << line;
  }
  EXPECT_NE(printed(table, {30, false}).find(".."), std::string::npos);
}

TEST(text_table, has_colours_only_where_asked) {
  const TextTable table({"operator", "calls"});
  EXPECT_EQ(printed(table, {0, false}).find('\033'), std::string::npos);
  EXPECT_NE(printed(table, {0, true}).find('\033'), std::string::npos);
}

TEST(bt_error, messages_lose_the_details_of_objects) {
  EXPECT_EQ(
      readable_bt_message("Component initialization method failed: status=ERROR, comp-addr=0"),
      "Component initialization method failed");
  EXPECT_EQ(readable_bt_message("Cannot open: No such file\n: path=\"x\""),
            "Cannot open: No such file");
  EXPECT_EQ(readable_bt_message("Cannot open directory `/x`: Permission denied (code 2)"),
            "Cannot open directory `/x`: Permission denied (code 2)");
  EXPECT_EQ(readable_bt_message("At line 3: syntax error."), "At line 3: syntax error");
}

TEST(event_printer, writes_one_line_per_event_with_every_field) {
  std::ostringstream out;
  EventPrinter printer(out);
  torchtrace_op op{};
  op.ts = 1000;
  op.dur = 7;
  op.pid = 42;
  op.tid = 43;
  op.end_tid = 44;
  op.op_id = 5;
  op.parent = 4;
  op.seq = -1;
  op.depth = 2;
  op.scope = 7;
  op.flags = core::kFlagAsync | core::kFlagLate;
  op.name = "aten::add.Tensor";
  printer.on_op({}, op);
  torchtrace_op_end end{};
  end.outcome = TORCHTRACE_OUTCOME_FILTERED;
  end.scope = 200;
  end.flags = 0x80;
  end.name = "x";
  printer.on_op_end({}, end);
  EXPECT_EQ(out.str(),
            "op ts=1000 dur=7 pid=42 tid=43 end_tid=44 op_id=5 parent=4 seq=-1 fwd_thread=0 "
            "commands=0 depth=2 scope=user_scope flags=async,late name=\"aten::add.Tensor\"\n"
            "op_end ts=0 dur=0 pid=0 tid=0 end_tid=0 op_id=0 parent=0 seq=0 fwd_thread=0 "
            "commands=0 depth=0 scope=200 flags=7 outcome=filtered name=\"x\"\n");
}

TEST(event_printer, escapes_what_would_break_the_line) {
  std::ostringstream out;
  EventPrinter printer(out);
  torchtrace_op_begin begin{};
  begin.name = "my \"scope\"\\\n\x01 é";
  printer.on_op_begin({}, begin);
  EXPECT_NE(out.str().find(R"(flags=none name="my \"scope\"\\\x0a\x01 é")"), std::string::npos)
      << out.str();
}

TEST(event_printer, says_that_it_cannot_write) {
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  EventPrinter printer(out);
  torchtrace_op_begin begin{};
  begin.name = "x";
  EXPECT_THROW(printer.on_op_begin({}, begin), TraceError);
}

}  // namespace
}  // namespace torchtrace::analysis
