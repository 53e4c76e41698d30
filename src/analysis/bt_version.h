#pragma once

#include <string>

namespace torchtrace::analysis {

/// The version of libbabeltrace2 that reads traces here: "2.0.4".
/// Errors: throws TraceError where it cannot read CTF, its plugin being missing.
std::string usable_babeltrace_version();

}  // namespace torchtrace::analysis
