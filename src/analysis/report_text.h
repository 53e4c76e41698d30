#pragma once

#include <cstddef>
#include <iosfwd>

#include "analysis/operator_rows.h"
#include "analysis/text_table.h"
#include "analysis/trace_model.h"

namespace torchtrace::analysis {

struct TextReportOptions {
  std::size_t top = 30;  ///< Operators shown; 0: all.
  SortKey sort = SortKey::kSelf;
  TextStyle style;
};

/// Writes the report for people: operators, processes and their threads, the receipt, and notes on
/// whatever is missing. Reorders the durations of `model`.
void write_text_report(TraceModel& model, const TextReportOptions& options, std::ostream& out);

}  // namespace torchtrace::analysis
