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
  /// Not wrong, but worth saying in a tool: variables that were ignored because they name no
  /// section.
  std::vector<Problem> notes;
  /// Where each value comes from, in the option table's order: "default", "FILE:LINE", or the name
  /// of an environment variable.
  std::vector<std::string> origins;
};

/// Reads an environment variable; returns nullptr where it is unset. Injected for tests.
using GetEnv = std::function<const char*(const char*)>;

/// Loads the effective configuration: the table's defaults, then the file named by
/// `TORCHTRACE_CONFIG` if set, then one variable `TORCHTRACE_SECTION_KEY` per option; an empty
/// variable counts as unset. `TORCHTRACE_CONFIG` and `TORCHTRACE_DEVICE` are reserved, not keys.
/// Unknown `TORCHTRACE_*` variables are ignored with no problem (but a note) if they name no
/// section, since other tools may own them; one that names a section (`TORCHTRACE_OUTPUT_HOLDD`) is
/// a problem. A setuid program must read neither environment nor file: its caller leaves this out
/// (an empty `get_env` and no block give the defaults).
/// `environ_block` is what `environ` points to, or nullptr: it is only searched for unknown names.
/// Thread: any; it must not change the environment meanwhile. Reads a file: not for the op path.
/// Errors: never throws; every problem found is listed, not only the first. No problem and no
/// configuration: memory ran out.
LoadResult load(const GetEnv& get_env, const char* const* environ_block) noexcept;

/// Same, for one file, without the environment: `torchtrace config check FILE`.
LoadResult load_file(const std::string& path) noexcept;

}  // namespace torchtrace::config
