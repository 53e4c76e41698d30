#include "recover/after_run.h"

#include <exception>
#include <filesystem>
#include <system_error>

#include "core/leftovers.h"
#include "core/mapping.h"
#include "recovery/recovery.h"

namespace torchtrace::cli {
namespace {

bool wrote_into(const std::string& directory, const recovery::MappingFile& mapping) {
  std::error_code error;
  return std::filesystem::equivalent(directory, recovery::read_output_directory(mapping), error) &&
         !error;
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
    try {
      const recovery::MappingFile mapping = recovery::open_mapping(leftover.name);
      if (wrote_into(directory, mapping)) sentences.push_back(recover_one(directory, mapping));
    } catch (const std::exception& error) {
      sentences.emplace_back(error.what());
    }
  }
  return sentences;
}

}  // namespace torchtrace::cli
