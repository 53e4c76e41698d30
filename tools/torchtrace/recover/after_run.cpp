#include "recover/after_run.h"

#include <exception>
#include <filesystem>
#include <optional>
#include <system_error>

#include "core/leftovers.h"
#include "core/mapping.h"
#include "recovery/error.h"
#include "recovery/recovery.h"

namespace torchtrace::cli {
namespace {

/// The mapping, if its process wrote into `directory`. One that cannot be read, of another version
/// say, is not of this run: its agent is ours.
std::optional<recovery::MappingFile> open_ours(const std::string& directory,
                                               const std::string& name) {
  try {
    recovery::MappingFile mapping = recovery::open_mapping(name);
    std::error_code error;
    const std::string theirs = recovery::read_output_directory(mapping);
    if (std::filesystem::equivalent(directory, theirs, error) && !error) return mapping;
  } catch (const recovery::Error&) {
    return std::nullopt;
  }
  return std::nullopt;
}

std::string recover_one(const std::string& directory, const recovery::MappingFile& mapping) {
  const recovery::Recovery recovery(mapping);
  const std::string pid = std::to_string(recovery.info().pid);
  const recovery::Written written =
      recovery::write_trace(recovery, directory, recovery.own_trace().is_found());
  return "process " + pid + " was killed: its last operators are in " + written.folder +
         "; `torchtrace recover " + pid + " --no-trace` tells what it was doing";
}

}  // namespace

std::vector<std::string> recover_after_run(const std::string& directory) {
  std::vector<std::string> sentences;
  for (const core::Leftover& leftover : core::find_leftovers(core::kSharedMemoryRoot)) {
    const std::optional<recovery::MappingFile> mapping = open_ours(directory, leftover.name);
    if (!mapping) continue;
    try {
      sentences.push_back(recover_one(directory, *mapping));
    } catch (const std::exception& error) {
      sentences.emplace_back(error.what());
    }
  }
  return sentences;
}

}  // namespace torchtrace::cli
