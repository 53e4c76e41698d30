#pragma once

#include <string>
#include <vector>

namespace torchtrace::cli {

/// Recovers what dead processes that wrote into `directory` have left, into that directory: the
/// program of a run, or its workers. Returns one sentence for each. Errors: sentences too.
std::vector<std::string> recover_after_run(const std::string& directory);

}  // namespace torchtrace::cli
