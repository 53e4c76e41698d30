#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "config/text.h"
#include "program_words.h"

namespace {

/// CLI11 itself would only say that a command is required.
void say_unknown_command(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string_view nearest = torchtrace::config::nearest(word, candidates);
  const std::string hint =
      nearest.empty() ? "see" : "did you mean " + std::string(nearest) + "? See";
  std::fprintf(stderr, "torchtrace: unknown command %s; %s torchtrace --help\n", word.c_str(),
               hint.c_str());
}

int usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> extra = app.remaining();
  const bool names_command = !extra.empty() && extra.front().rfind('-', 0) != 0;
  if (error.get_name() == "RequiredError" && app.get_subcommands().empty() && names_command) {
    say_unknown_command(app, extra.front());
    return torchtrace::cli::kExitUsage;
  }
  // CLI11 numbers its errors from 100 up; help and version are "errors" of code 0.
  const int code = app.exit(error);
  return code == 0 ? torchtrace::cli::kExitOk : torchtrace::cli::kExitUsage;
}

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
  torchtrace::cli::add_recover(app, exit_code);
  torchtrace::cli::add_config(app, exit_code);
  torchtrace::cli::add_doctor(app, exit_code);
  try {
    app.parse(torchtrace::cli::reversed_command_line(argc, argv));
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error);
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
