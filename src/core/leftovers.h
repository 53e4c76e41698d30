#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace torchtrace::core {

enum class MappingState {
  kDead,     ///< Its process ended without removing it: killed, or crashed.
  kRunning,  ///< Its process runs, or is stopped.
  kUnknown   ///< Of another pid namespace or another version, or just being made.
};

struct FoundMapping {
  std::string name;  ///< PID-STARTTIME, below the user's folder.
  std::int64_t changed_s = 0;
  std::uint64_t bytes = 0;
  MappingState state = MappingState::kUnknown;
};
using Leftover = FoundMapping;

/// State of an open mapping. It is dead if its lock is free and no process of its pid namespace has
/// its pid and start time; containers may share /dev/shm, and only their own can tell.
MappingState mapping_state(int fd) noexcept;

/// All mappings of the user below `root`, newest first.
std::vector<FoundMapping> find_mappings(const char* root);

/// Those of them that are dead.
std::vector<Leftover> find_leftovers(const char* root);

/// Removes one. False if that failed.
bool remove_leftover(const char* root, const std::string& name) noexcept;

/// Removes leftovers beyond the newest four or 64 MiB, so that programs that are killed over and
/// over do not fill /dev/shm. Thread: the flush thread, once at its start.
void trim_leftovers(const char* root);

}  // namespace torchtrace::core
