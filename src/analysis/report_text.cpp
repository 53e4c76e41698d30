#include "analysis/report_text.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <string>
#include <vector>

#include "analysis/notes.h"
#include "analysis/receipt_check.h"
#include "analysis/units.h"

namespace torchtrace::analysis {
namespace {

/// Rows of the tables of processes and threads; programs with hundreds exist.
constexpr std::size_t kMaxRows = 16;

void write_heading(std::ostream& out, const std::string& text, const TextStyle& style) {
  out << '\n' << bold(text, style) << '\n';
}

void write_more(std::ostream& out, std::size_t hidden, const char* how, const TextStyle& style) {
  if (hidden != 0) {
    out << dim("... and " + format_count(hidden) + " more; " + how, style) << '\n';
  }
}

void write_operators(TraceModel& model, const TextReportOptions& options, std::ostream& out) {
  const std::vector<OperatorRow> rows = make_operator_rows(model, options.sort);
  const std::size_t shown = options.top == 0 ? rows.size() : std::min(options.top, rows.size());
  std::uint64_t calls = 0;
  std::uint64_t self_ns = 0;
  for (const OperatorRow& row : rows) {
    calls += row.calls;
    self_ns += row.self_ns;
  }
  TextTable table(
      {"operator", "calls", "self", "self %", "total", "mean", "min", "p50", "p99", "max"});
  for (std::size_t i = 0; i < shown; ++i) {
    const OperatorRow& row = rows[i];
    const auto ns = [](std::uint64_t value) { return format_duration(static_cast<double>(value)); };
    table.add_row({row.name, format_count(row.calls), ns(row.self_ns),
                   format_share(row.self_ns, self_ns), ns(row.total_ns),
                   format_duration(row.mean_ns), ns(row.min_ns), ns(row.p50_ns), ns(row.p99_ns),
                   ns(row.max_ns)});
  }
  table.add_row({"all " + format_count(rows.size()) + " operators", format_count(calls),
                 format_duration(static_cast<double>(self_ns)), format_share(self_ns, self_ns)});
  table.print(out, options.style);
  write_more(out, rows.size() - shown, "--top 0 shows all", options.style);
}

const char* receipt_kind(const ProcessStats& process) {
  if (!process.receipt) {
    return "none";
  }
  return process.receipt->final != 0 ? "final" : "periodic";
}

std::uint64_t self_time(const ProcessStats& process) {
  std::uint64_t self_ns = 0;
  for (const ThreadStats& thread : process.threads) {
    self_ns += thread.self_ns;
  }
  return self_ns;
}

void write_processes(const TraceModel& model, const TextStyle& style, std::ostream& out) {
  write_heading(out, "Processes", style);
  TextTable table({"command", "pid", "torch", "threads", "calls", "self", "receipt"});
  const std::size_t shown = std::min(kMaxRows, model.processes.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const ProcessStats& process = model.processes[i];
    table.add_row({process.info ? process.info->command : "unknown", std::to_string(process.pid),
                   process.info ? process.info->torch_version : "unknown",
                   format_count(process.threads.size()), format_count(process.read),
                   format_duration(static_cast<double>(self_time(process))),
                   receipt_kind(process)});
  }
  table.print(out, style);
  write_more(out, model.processes.size() - shown, "--json has all", style);
}

struct ThreadRow {
  const ProcessStats* process;
  const ThreadStats* thread;
};

void write_threads(const TraceModel& model, const TextStyle& style, std::ostream& out) {
  std::vector<ThreadRow> rows;
  for (const ProcessStats& process : model.processes) {
    for (const ThreadStats& thread : process.threads) {
      rows.push_back({&process, &thread});
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const ThreadRow& a, const ThreadRow& b) {
    return a.thread->self_ns > b.thread->self_ns;
  });
  write_heading(out, "Threads", style);
  TextTable table({"thread", "pid", "tid", "calls", "self"});
  const std::size_t shown = std::min(kMaxRows, rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const ThreadStats& thread = *rows[i].thread;
    table.add_row({thread.name.empty() ? "unknown" : thread.name,
                   std::to_string(rows[i].process->pid),
                   thread.tid ? std::to_string(*thread.tid) : "unknown", format_count(thread.calls),
                   format_duration(static_cast<double>(thread.self_ns))});
  }
  table.print(out, style);
  write_more(out, rows.size() - shown, "--json has all", style);
}

/// Reasons whose count is not 0, or nothing: "ring_full 12, too_deep 3".
std::string reason_text(const torchtrace_receipt& receipt,
                        const std::vector<ReceiptReason>& reasons) {
  std::string text;
  for (const ReceiptReason& reason : reasons) {
    if (receipt.*reason.field != 0) {
      text += (text.empty() ? "" : ", ") + std::string(reason.name) + " " +
              format_count(receipt.*reason.field);
    }
  }
  return text;
}

std::uint64_t reason_sum(const torchtrace_receipt& receipt,
                         const std::vector<ReceiptReason>& reasons) {
  std::uint64_t sum = 0;
  for (const ReceiptReason& reason : reasons) {
    sum += receipt.*reason.field;
  }
  return sum;
}

std::string signed_count(std::int64_t count) {
  return count < 0 ? "-" + format_count(static_cast<std::uint64_t>(-count))
                   : format_count(static_cast<std::uint64_t>(count));
}

std::string verdict(const TraceModel& model) {
  bool holds = true;
  bool final = true;
  for (const ProcessStats& process : model.processes) {
    const ReceiptCheck check = check_receipt(process, model.read.lttng_discarded());
    holds = holds && check.holds();
    final = final && check.is_final;
  }
  if (!holds) {
    return "the sums do NOT hold, see the notes";
  }
  return final ? "exact: all sums hold" : "not final: the sums hold for what was counted so far";
}

void write_receipt(const TraceModel& model, const TextStyle& style, std::ostream& out) {
  const torchtrace_receipt total = sum_known_receipts(model);
  const ReceiptCheck check = check_receipts(model);
  std::uint64_t read = 0;
  std::uint64_t read_at_receipt = 0;
  for (const ProcessStats& process : model.processes) {
    read += process.read;
    read_at_receipt += process.read_at_receipt;
  }
  write_heading(out, "Receipt (" + verdict(model) + ")", style);
  TextTable table({"counter", "operators", "of these"});
  table.set_left_aligned(2);
  const auto row = [&table](const std::string& name, const std::string& count,
                            const std::string& detail) {
    table.add_row({name, count, detail});
  };
  row("started", format_count(total.started), "");
  row("  = recorded", format_count(total.recorded), "");
  row("  + filtered", format_count(total.filtered), "");
  row("  + sampled out", format_count(total.sampled_out), "");
  row("  + dropped", format_count(reason_sum(total, drop_reasons())),
      reason_text(total, drop_reasons()));
  row("  + open", format_count(total.open), "");
  row("  + settling", signed_count(total.settling), "");
  row("recorded", format_count(total.recorded), "");
  row("  = written", format_count(total.written - check.lost_lttng.value_or(0)), "");
  row("  + lost", format_count(reason_sum(total, loss_reasons()) + check.lost_lttng.value_or(0)),
      reason_text(total, loss_reasons()) +
          (check.lost_lttng.value_or(0) != 0 ? " lttng " + format_count(*check.lost_lttng) : ""));
  row("read from the trace", format_count(read),
      read == read_at_receipt ? "" : format_count(read_at_receipt) + " up to the last receipt");
  row("late", format_count(total.late), "");
  row("inherited by fork", format_count(total.inherited), "");
  if (total.clock_stepped != 0) {
    row("clock stepped", format_count(total.clock_stepped), "times estimated: the counter was bad");
  }
  table.print(out, style);
  out << "clock error at most " << format_duration(static_cast<double>(total.clock_error_ns))
      << '\n';
}

void write_notes(const TraceModel& model, const TextStyle& style, std::ostream& out) {
  const std::vector<std::string> notes = make_notes(model);
  if (notes.empty()) {
    return;
  }
  write_heading(out, "Notes", style);
  for (const std::string& note : notes) {
    out << "- " << note << '\n';
  }
}

}  // namespace

void write_text_report(TraceModel& model, const TextReportOptions& options, std::ostream& out) {
  write_operators(model, options, out);
  write_processes(model, options.style, out);
  write_threads(model, options.style, out);
  write_receipt(model, options.style, out);
  write_notes(model, options.style, out);
}

}  // namespace torchtrace::analysis
