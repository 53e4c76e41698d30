#pragma once

#include <string>

#include "core/leftovers.h"
#include "core/mapping.h"
#include "recovery/open_file.h"

namespace torchtrace::recovery {

/// The mapping of one process, opened for reading.
struct MappingFile {
  OpenFile file;
  std::string folder;  ///< Path.
  core::MappingState state = core::MappingState::kUnknown;
};

/// Opens the mapping that `which` names: a PID, PID-STARTTIME as `recover --list` shows it, or a
/// folder. Of several of one PID the newest. Follows no link, and reads only what is ours and
/// closed to others, as the agent itself does.
/// Errors: throws Error with one sentence.
MappingFile open_mapping(const std::string& which, const char* root = core::kSharedMemoryRoot);

}  // namespace torchtrace::recovery
