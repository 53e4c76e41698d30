#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own
class App;
}

namespace torchtrace::cli {

/// Exit codes of every command but `run` (which passes its child's on).
enum ExitCode : int {
  kExitOk = 0,
  kExitFailed = 1,
  kExitUsage = 2,          ///< Usage or configuration.
  kExitConditionHolds = 3  ///< A `--fail-on-...` condition holds.
};

/// Each adds one subcommand to `app`, whose callback stores its exit code in `exit_code`.
/// One source file per subcommand: cmd_NAME.cpp.
void add_run(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_print(CLI::App& app, int& exit_code);
void add_recover(CLI::App& app, int& exit_code);
void add_config(CLI::App& app, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);

}  // namespace torchtrace::cli
