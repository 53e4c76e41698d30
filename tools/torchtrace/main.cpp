#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>

#include "commands.h"
#include "program_words.h"

namespace {

int run_command_line(int argc, char** argv) {
  CLI::App app{"torchtrace: low-overhead tracing of PyTorch operators on CPU and GPU",
               "torchtrace"};
  app.require_subcommand(1);
  app.set_version_flag("--version", TORCHTRACE_VERSION);
  int exit_code = torchtrace::cli::kExitOk;
  // One line per subcommand, in the order of the help text: add_NAME(app, exit_code).
  torchtrace::cli::add_run(app, exit_code);
  torchtrace::cli::add_report(app, exit_code);
  torchtrace::cli::add_print(app, exit_code);
  torchtrace::cli::add_config(app, exit_code);
  try {
    app.parse(torchtrace::cli::reversed_command_line(argc, argv));
  } catch (const CLI::ParseError& error) {
    // CLI11 numbers its errors from 100 up; help and version are "errors" of code 0.
    const int code = app.exit(error);
    return code == 0 ? torchtrace::cli::kExitOk : torchtrace::cli::kExitUsage;
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_command_line(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "torchtrace: %s\n", error.what());
    return torchtrace::cli::kExitFailed;
  }
}
