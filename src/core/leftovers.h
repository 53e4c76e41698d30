#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace torchtrace::core {

/// The mapping of a process that ended without removing it: killed, or crashed.
struct Leftover {
  std::string name;  ///< PID-STARTTIME, below the user's folder.
  std::int64_t changed_s = 0;
  std::uint64_t bytes = 0;
};

/// Leftovers below `root`, newest first. A mapping is one if its lock is free and no process of its
/// pid namespace has its pid and start time; mappings of other namespaces are left alone, since
/// containers may share /dev/shm and only their own can tell.
std::vector<Leftover> find_leftovers(const char* root);

/// Removes one. False if that failed.
bool remove_leftover(const char* root, const std::string& name) noexcept;

/// Removes leftovers beyond the newest four or 64 MiB, so that programs that are killed over and
/// over do not fill /dev/shm. Thread: the flush thread, once at its start.
void trim_leftovers(const char* root);

}  // namespace torchtrace::core
