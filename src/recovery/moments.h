#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recovery/recovery.h"

/// What a process was doing, for people: names and times instead of ids and ticks.
namespace torchtrace::recovery {

struct OpenMoment {
  std::string name;
  std::uint64_t start_ns = 0;
  std::uint64_t open_for_ns = 0;  ///< Until the last sign of life.
  std::uint32_t depth = 0;
  bool is_user_scope = false;
};

struct EndedMoment {
  std::string name;
  std::uint64_t start_ns = 0;
  std::uint64_t dur_ns = 0;
  std::uint64_t ended_before_ns = 0;  ///< Before the last sign of life.
};

struct ThreadMoments {
  flush::ThreadInfo info;
  bool has_ended = false;
  bool was_starting = false;
  std::uint64_t started = 0;
  std::vector<OpenMoment> open;   ///< From the outermost to the innermost.
  std::vector<EndedMoment> last;  ///< Newest first.
};

/// All threads that have a buffer, or had one that no other has taken since; by slot. At most
/// `last` ended operators of each.
std::vector<ThreadMoments> describe_threads(const Recovery& recovery, std::size_t last);

}  // namespace torchtrace::recovery
