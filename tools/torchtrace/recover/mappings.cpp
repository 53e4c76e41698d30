#include "recover/mappings.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include "analysis/text_table.h"
#include "commands.h"
#include "core/leftovers.h"
#include "core/mapping.h"
#include "doctor/words.h"
#include "recover/printable.h"
#include "recovery/mapping_file.h"
#include "recovery/process_copy.h"
#include "terminal.h"

namespace torchtrace::cli {
namespace {

constexpr const char* kRoot = core::kSharedMemoryRoot;

const char* state_word(core::MappingState state) {
  switch (state) {
    case core::MappingState::kDead:
      return "dead";
    case core::MappingState::kRunning:
      return "running";
    default:
      return "unknown";
  }
}

std::string pid_of(const std::string& name) { return name.substr(0, name.find('-')); }

/// "unknown" where the mapping cannot be read: of another version, or damaged.
std::string command_of(const std::string& name) {
  try {
    return recovery::read_command(recovery::open_mapping(name));
  } catch (const std::exception&) {
    return "unknown";
  }
}

nlohmann::ordered_json mapping_json(const core::FoundMapping& mapping) {
  return {{"pid", std::stoul(pid_of(mapping.name))}, {"name", mapping.name},
          {"state", state_word(mapping.state)},      {"bytes", mapping.bytes},
          {"changed_s", mapping.changed_s},          {"command", command_of(mapping.name)}};
}

void write_json(const std::vector<core::FoundMapping>& found) {
  nlohmann::ordered_json json = {{"schema", "torchtrace.recover-list/1"},
                                 {"mappings", nlohmann::ordered_json::array()}};
  for (const core::FoundMapping& mapping : found) json["mappings"].push_back(mapping_json(mapping));
  std::cout << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

void write_table(const std::vector<core::FoundMapping>& found) {
  if (found.empty()) {
    std::cout << "no process of ours records, and none that died has left anything\n";
    return;
  }
  const std::time_t now = std::time(nullptr);
  analysis::TextTable table({"command", "pid", "state", "memory", "made"});
  table.set_left_aligned(2);
  for (const core::FoundMapping& mapping : found) {
    table.add_row({printable(command_of(mapping.name)), pid_of(mapping.name),
                   state_word(mapping.state), bytes_in_words(mapping.bytes),
                   age_in_words(now - mapping.changed_s) + " ago"});
  }
  table.print(std::cout, style_for(std::cout));
}

}  // namespace

int list_mappings(bool is_json) {
  const std::vector<core::FoundMapping> found = core::find_mappings(kRoot);
  is_json ? write_json(found) : write_table(found);
  if (std::cout.flush()) return kExitOk;
  std::fputs("torchtrace recover: cannot write to stdout: is the disk full?\n", stderr);
  return kExitFailed;
}

int clean_mappings() {
  int exit_code = kExitOk;
  const std::vector<core::Leftover> leftovers = core::find_leftovers(kRoot);
  for (const core::Leftover& leftover : leftovers) {
    const std::string what = "what process " + pid_of(leftover.name) + " had left (" +
                             bytes_in_words(leftover.bytes) + ")";
    if (core::remove_leftover(kRoot, leftover.name)) {
      std::cout << "removed " << what << '\n';
    } else {
      std::fprintf(stderr, "torchtrace recover: cannot remove %s: %s/torchtrace-UID/%s\n",
                   what.c_str(), kRoot, leftover.name.c_str());
      exit_code = kExitFailed;
    }
  }
  if (leftovers.empty()) std::cout << "nothing to remove: no process has died and left anything\n";
  std::cout.flush();
  return exit_code;
}

}  // namespace torchtrace::cli
