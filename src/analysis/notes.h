#pragma once

#include <string>
#include <vector>

#include "analysis/trace_model.h"

namespace torchtrace::analysis {

/// What a reader of the report must know about it, one sentence each: what could not be read, what
/// was lost, which numbers are therefore not exact. Empty where the trace is complete and adds up.
std::vector<std::string> make_notes(const TraceModel& model);

}  // namespace torchtrace::analysis
