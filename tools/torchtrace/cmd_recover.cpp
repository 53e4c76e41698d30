#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "commands.h"
#include "recover/mappings.h"
#include "recover/moments_output.h"
#include "recovery/recovery.h"
#include "terminal.h"

namespace torchtrace::cli {
namespace {

struct RecoverArguments {
  std::string which;
  std::string directory;
  bool json = false;
  bool list = false;
  bool clean = false;
  bool no_trace = false;
};

struct Place {
  std::string directory;
  bool is_beside_own_trace = false;
};

bool is_same_folder(const std::string& left, const std::string& right) {
  std::error_code error;
  return std::filesystem::equivalent(left, right, error) && !error;
}

/// Beside the program's own trace, so that both are read as one: what it has written is then all
/// there. Of a program that runs nothing is put there, since it will write the same itself.
Place choose_place(const recovery::Recovery& recovery, const std::string& wanted) {
  const std::string own = recovery.output_directory();
  const bool may_be_beside = recovery.is_dead() && recovery.own_trace().is_found();
  if (wanted.empty() && recovery.is_dead() && !own.empty()) return {own, may_be_beside};
  const std::string directory =
      wanted.empty() ? "torchtrace-recovered-" + std::to_string(recovery.info().pid) : wanted;
  return {std::filesystem::absolute(directory).lexically_normal(),
          may_be_beside && is_same_folder(directory, own)};
}

int recover(const RecoverArguments& arguments) {
  const recovery::MappingFile mapping = recovery::open_mapping(arguments.which);
  const recovery::Recovery recovery(mapping);
  RecoverReport report{recovery, mapping.folder, {}};
  // The table comes first and whatever becomes of the trace: it is what is asked in an emergency.
  std::string error;
  if (!arguments.no_trace) {
    try {
      const Place place = choose_place(recovery, arguments.directory);
      report.written = recovery::write_trace(recovery, place.directory, place.is_beside_own_trace);
    } catch (const std::exception& caught) {
      error = caught.what();
    }
  }
  arguments.json ? write_moments_json(report, std::cout)
                 : write_moments_text(report, style_for(std::cout), std::cout);
  if (!std::cout.flush()) error = "cannot write to stdout: is the disk full?";
  if (error.empty()) return kExitOk;
  std::fprintf(stderr, "torchtrace recover: %s\n", error.c_str());
  return kExitFailed;
}

int run_recover(const RecoverArguments& arguments) noexcept {
  try {
    if (arguments.list) return list_mappings(arguments.json);
    if (arguments.clean) return clean_mappings();
    if (!arguments.which.empty()) return recover(arguments);
    std::fputs("torchtrace recover: name a PID, or use --list or --clean; see --help\n", stderr);
    return kExitUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "torchtrace recover: %s\n", error.what());
    return kExitFailed;
  }
}

}  // namespace

void add_recover(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<RecoverArguments>();
  CLI::App* command = app.add_subcommand(
      "recover", "Tell what a killed or hung program was doing, and save its last operators");
  CLI::Option* which = command->add_option(
      "PID", arguments->which,
      "The process; or PID-STARTTIME, or a folder as below /dev/shm/torchtrace-UID");
  CLI::Option* output = command->add_option(
      "-o,--output", arguments->directory,
      "Folder for the trace (default: beside the one that a dead program has written itself; of a "
      "running one, torchtrace-recovered-PID in the working directory)");
  command->add_flag("--json", arguments->json,
                    "Machine-readable: schema torchtrace.recover/1 (torchtrace.recover-list/1)");
  CLI::Option* no_trace =
      command->add_flag("--no-trace", arguments->no_trace, "Only tell; write nothing");
  CLI::Option* list =
      command->add_flag("--list", arguments->list, "List what may be recovered, newest first");
  CLI::Option* clean = command->add_flag("--clean", arguments->clean,
                                         "Remove what programs that are dead have left");
  for (CLI::Option* alone : {list, clean}) alone->excludes(which)->excludes(output);
  list->excludes(clean);
  no_trace->excludes(output);
  command->footer(
      "A program that runs or hangs is only read: it gets no signal and is not stopped. The trace\n"
      "holds what the program had not written yet and what was open, with a receipt; `torchtrace\n"
      "report` on the folder reads it together with the program's own. Nothing is removed but by\n"
      "--clean.");
  command->callback([arguments, &exit_code] { exit_code = run_recover(*arguments); });
}

}  // namespace torchtrace::cli
