#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "config/load.h"
#include "config/units.h"
#include "doctor/checks.h"
#include "doctor/words.h"

namespace torchtrace::cli {
namespace {

namespace fs = std::filesystem;
using config::SinkKind;

std::string source_in_words(const Surroundings& surroundings) {
  const std::string file = surroundings.variable("TORCHTRACE_CONFIG");
  return file.empty() ? "defaults and the environment (TORCHTRACE_CONFIG is not set)"
                      : file + " (TORCHTRACE_CONFIG) and the environment";
}

void report_valid(Findings& findings, const config::Config& config, const std::string& source) {
  const bool is_off = config.output.sink == SinkKind::kOff;
  if (!is_off && config.output.sink != SinkKind::kNone) {
    findings.ok("configuration", "valid: " + source);
    return;
  }
  findings.warning("configuration",
                   std::string("valid, but nothing is written: output.sink = ") +
                       (is_off ? "\"off\"" : "\"none\""),
                   "`torchtrace config show` says where that comes from");
}

/// The nearest folder upwards that is there: what is missing below it gets made.
fs::path existing_part(const fs::path& wanted) {
  fs::path path = wanted;
  std::error_code error;
  while (path.has_relative_path() && !fs::exists(path, error)) path = path.parent_path();
  return path;
}

}  // namespace

std::optional<config::Config> check_configuration(Findings& findings,
                                                  const Surroundings& surroundings) {
  const std::vector<char*> block = surroundings.environment.pointers();
  config::LoadResult result = config::load(
      [&](const char* name) { return surroundings.environment.get(name); }, block.data());
  for (const config::Problem& problem : result.problems) {
    findings.problem("configuration", problem.text,
                     "until it is corrected the agent stays off, and `torchtrace run` refuses");
  }
  for (const config::Problem& note : result.notes) {
    findings.warning("configuration", note.text, "correct or unset it if torchtrace was meant");
  }
  if (result.config) report_valid(findings, *result.config, source_in_words(surroundings));
  return std::move(result.config);
}

void check_output(Findings& findings, const config::Config::Output& output) {
  std::error_code error;
  const fs::path wanted =
      output.directory.empty() ? fs::current_path(error) : fs::absolute(output.directory, error);
  const fs::path folder = existing_part(wanted);
  if (access(folder.c_str(), W_OK | X_OK) != 0 || !fs::is_directory(folder, error)) {
    findings.warning("trace folder",
                     folder.string() + " cannot be written; traces go below TMPDIR, or /tmp",
                     "set output.directory (TORCHTRACE_OUTPUT_DIRECTORY) to a folder of yours");
    return;
  }
  struct statvfs disk {};
  const bool is_known = statvfs(folder.c_str(), &disk) == 0;
  const std::uint64_t free_bytes = std::uint64_t{disk.f_bavail} * disk.f_frsize;
  const std::string found = wanted.string() + ", " + bytes_in_words(free_bytes) + " free";
  if (!is_known || free_bytes >= output.max_bytes) {
    findings.ok("trace folder", is_known ? found : wanted.string());
    return;
  }
  findings.warning("trace folder",
                   found + "; output.max_bytes lets traces grow to " +
                       config::format_quantity(output.max_bytes, config::Dimension::kBytes),
                   "lower output.max_bytes, or set output.directory to where there is room");
}

}  // namespace torchtrace::cli
