#pragma once

#include <string>
#include <vector>

namespace torchtrace::analysis {

/// The CTF traces that lie in or below a directory.
struct FoundTraces {
  std::vector<std::string> folders;     ///< Each holds a file `metadata`; sorted.
  std::vector<std::string> unreadable;  ///< One sentence per folder that could not be listed.
};

/// Looks for folders that hold a file `metadata`, as the built-in sink (DIR/HOST-PID-STARTTIME/)
/// and LTTng (DIR/ust/uid/UID/64-bit/, deeper with rotations) lay them out. Symbolic links to
/// folders below `directory` are not followed.
/// Errors: throws TraceError where `directory` does not exist, is no directory, cannot be listed,
/// or holds no trace.
FoundTraces find_traces(const std::string& directory);

}  // namespace torchtrace::analysis
