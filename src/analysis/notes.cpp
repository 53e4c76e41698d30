#include "analysis/notes.h"

#include <map>

#include "analysis/receipt_check.h"
#include "analysis/units.h"

namespace torchtrace::analysis {
namespace {

std::string counted(std::uint64_t count, const char* singular, const char* plural) {
  return format_count(count) + " " + (count == 1 ? singular : plural);
}

std::string of_process(const ProcessStats& process) {
  return "process " + std::to_string(process.pid);
}

/// "left 3 more than right", for a difference of left - right.
std::string difference_text(std::int64_t difference) {
  const bool more = difference > 0;
  const auto size = static_cast<std::uint64_t>(more ? difference : -difference);
  return format_count(size) + (more ? " more than" : " less than");
}

void note_discards(const TraceModel& model, std::vector<std::string>& notes) {
  for (const TraceSummary& trace : model.read.traces) {
    if (!trace.discarded()) {
      continue;
    }
    const std::string how_many =
        trace.discarded_unknown ? "events (it does not say how many)"
                                : counted(trace.discarded_events, "event", "events") + " and " +
                                      counted(trace.discarded_packets, "packet", "packets");
    notes.push_back("the tracer had no room for " + how_many + " of the trace '" + trace.info.path +
                    "'");
  }
}

void note_receipt(const ProcessStats& process, bool discarded, std::vector<std::string>& notes) {
  if (!process.receipt) {
    notes.push_back(of_process(process) +
                    " left no receipt: how many operators it ran is not known");
    return;
  }
  const ReceiptCheck check = check_receipt(process, discarded);
  if (!check.is_final) {
    notes.push_back(of_process(process) +
                    " left no final receipt (it was killed, or runs still): its counts are those "
                    "of its last periodic one");
  }
  if (check.started_difference != 0) {
    notes.push_back("the receipt of " + of_process(process) + " does not add up: started is " +
                    difference_text(check.started_difference) + " the sum of its parts");
  }
  if (check.recorded_difference != 0) {
    notes.push_back("the receipt of " + of_process(process) + " does not add up: recorded is " +
                    difference_text(check.recorded_difference) + " written and lost together");
  }
  if (check.written_difference != static_cast<std::int64_t>(check.lost_lttng.value_or(0))) {
    notes.push_back(of_process(process) + " wrote " + format_count(process.receipt->written) +
                    " operators by its receipt, but " + format_count(process.read_at_receipt) +
                    " were read up to it");
  }
}

void note_drops(const TraceModel& model, std::vector<std::string>& notes) {
  const torchtrace_receipt total = sum_known_receipts(model);
  for (const auto* reasons : {&drop_reasons(), &loss_reasons()}) {
    for (const ReceiptReason& reason : *reasons) {
      if (total.*reason.field != 0) {
        notes.push_back(counted(total.*reason.field, "operator was", "operators were") +
                        (reasons == &drop_reasons() ? " dropped: " : " lost: ") + reason.name);
      }
    }
  }
  if (total.names_overflowed != 0) {
    notes.push_back(counted(total.names_overflowed, "operator has", "operators have") +
                    " no name of their own: the name table was full");
  }
}

/// "aten::mm (3), training": the names of operators, at most kMaxNames of them.
std::string names_of(const std::vector<OpenOperator>& operators) {
  constexpr std::size_t kMaxNames = 8;
  std::map<std::string, std::uint64_t> by_name;
  for (const OpenOperator& op : operators) {
    ++by_name[op.name];
  }
  std::string names;
  std::size_t shown = 0;
  for (const auto& [name, count] : by_name) {
    if (shown++ == kMaxNames) {
      return names + " and " + counted(by_name.size() - kMaxNames, "other", "others");
    }
    names += (names.empty() ? "" : ", ") + name;
    names += count == 1 ? "" : " (" + format_count(count) + ")";
  }
  return names;
}

void note_open(const ProcessStats& process, std::vector<std::string>& notes) {
  if (!process.open.empty()) {
    notes.push_back(
        counted(process.open.size(), "operator of ", "operators of ") + of_process(process) +
        " began and did not end in the trace; no row counts them: " + names_of(process.open));
  }
}

void note_self_times(const ProcessStats& process, std::vector<std::string>& notes) {
  if (process.missing_parents != 0) {
    notes.push_back(counted(process.missing_parents, "operator of ", "operators of ") +
                    of_process(process) +
                    " that had children are not in the trace: the self times of what was around "
                    "them are too long");
  }
  if (process.malformed != 0) {
    notes.push_back(counted(process.malformed, "event of ", "events of ") + of_process(process) +
                    " had no op_id and were ignored");
  }
}

}  // namespace

std::vector<std::string> make_notes(const TraceModel& model) {
  std::vector<std::string> notes = model.read.missing;
  note_discards(model, notes);
  note_drops(model, notes);
  for (const ProcessStats& process : model.processes) {
    note_receipt(process, model.read.lttng_discarded(), notes);
    note_open(process, notes);
    note_self_times(process, notes);
  }
  return notes;
}

}  // namespace torchtrace::analysis
