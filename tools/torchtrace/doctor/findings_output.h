#pragma once

#include <iosfwd>
#include <string>

#include "analysis/text_table.h"
#include "doctor/findings.h"

namespace torchtrace::cli {

/// One finding as text, one line, with what to do about it on a second one where there is
/// something. `previous_group` is that of the finding before: a new group gets a heading.
void write_finding(const Finding& finding, const std::string& previous_group,
                   const analysis::TextStyle& style, std::ostream& out);

/// The last line: how many problems and warnings there are.
void write_summary(const Findings& findings, std::ostream& out);

/// All findings, schema "torchtrace.doctor/1".
void write_json(const Findings& findings, std::ostream& out);

}  // namespace torchtrace::cli
