#pragma once

#include <iosfwd>

#include "analysis/operator_rows.h"
#include "analysis/trace_model.h"

namespace torchtrace::analysis {

/// Writes the report as JSON, schema "torchtrace.report/1" (docs/report-json.md): all operators,
/// sorted by `sort`. Reorders the durations of `model`.
void write_json_report(TraceModel& model, SortKey sort, std::ostream& out);

}  // namespace torchtrace::analysis
