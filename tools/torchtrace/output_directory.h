#pragma once

#include <string>

namespace torchtrace::cli {

/// Where a run's traces go.
struct OutputDirectory {
  std::string path;        ///< Absolute; empty: none could be made.
  std::string error;       ///< Why not, or what had to be done otherwise: a sentence.
  bool was_there = false;  ///< Not ours to remove, even if nothing is written into it.
};

/// Makes the folder that the command line names. One that holds something is refused: the report
/// would mix two runs.
OutputDirectory make_named_directory(const std::string& name);

/// Makes the folder that a configuration names. It serves many runs, so where it holds something
/// the traces go into a new `torchtrace-PID` in it.
OutputDirectory make_configured_directory(const std::string& name);

/// Makes `torchtrace-PID` in the working directory, or below TMPDIR where that cannot be written.
OutputDirectory make_default_directory();

/// True if there is a trace in the folder, or in a folder below it.
bool holds_trace(const std::string& directory);

/// Removes the folder if there is nothing in it but empty folders.
void remove_if_empty(const std::string& directory);

}  // namespace torchtrace::cli
