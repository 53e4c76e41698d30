#pragma once

#include <string>
#include <vector>

namespace torchtrace::cli {

/// A name for the LTTng session of this run, unique on this machine also when process ids come
/// round again: sessions may outlive their run.
std::string new_run_session_name();

/// The sessions of `torchtrace run` that `lttng list` shows.
std::vector<std::string> run_sessions_in(const std::string& list);

}  // namespace torchtrace::cli
