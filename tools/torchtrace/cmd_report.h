#pragma once

#include <iosfwd>
#include <string>

namespace torchtrace::cli {

/// Writes the report of all traces below `directory` to `out`, as `torchtrace report` does without
/// options; what stops it is one sentence on stderr.
/// Returns `kExitOk`, also where a part of the trace could not be read (the report says which), or
/// `kExitFailed` where nothing could.
/// Errors: never throws.
int print_report(const std::string& directory, std::ostream& out) noexcept;

}  // namespace torchtrace::cli
