#include <CLI/CLI.hpp>

#include <exception>
#include <iostream>

#include "commands.h"

int main(int argc, char** argv) {
  CLI::App app{"torchtrace: low-overhead tracing of PyTorch operators on CPU and GPU",
               "torchtrace"};
  app.require_subcommand(1);
  app.set_version_flag("--version", TORCHTRACE_VERSION);
  int exit_code = torchtrace::cli::kExitOk;
  // One line per subcommand, in the order of the help text: add_NAME(app, exit_code).
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 numbers its errors from 100 up; help and version are "errors" of code 0.
    const int code = app.exit(error);
    return code == 0 ? torchtrace::cli::kExitOk : torchtrace::cli::kExitUsage;
  } catch (const std::exception& error) {
    std::cerr << "torchtrace: " << error.what() << '\n';
    return torchtrace::cli::kExitFailed;
  }
  return exit_code;
}
