#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"

namespace torchtrace::config {

/// One thing wrong with a configuration, as shown to the user: one sentence that names the file and
/// line (or the environment variable), the key, the offending value, the bound or the valid values,
/// and for an unknown key the nearest valid one.
struct Problem {
  std::string text;
};

/// Result of reading a configuration: values only if nothing was wrong.
struct LoadResult {
  std::optional<Config> config;
  std::vector<Problem> problems;
};

/// Reads an environment variable; returns nullptr where it is unset. Injected for tests.
using GetEnv = std::function<const char*(const char*)>;

/// Loads the effective configuration: the table's defaults, then the file named by
/// `TORCHTRACE_CONFIG` if set, then one variable `TORCHTRACE_SECTION_KEY` per option.
/// `TORCHTRACE_CONFIG` and `TORCHTRACE_DEVICE` are reserved, not keys. Unknown `TORCHTRACE_*`
/// variables are ignored with no problem if they name no section, since other tools may own them;
/// one that names a section (`TORCHTRACE_OUTPUT_HOLDD`) is a problem.
/// Thread: any. Errors: never throws; every problem found is listed, not only the first.
LoadResult load(const GetEnv& get_env, const char* const* environ_block) noexcept;

/// Same, for one file, without the environment: `torchtrace config check FILE`.
LoadResult load_file(const std::string& path) noexcept;

}  // namespace torchtrace::config
