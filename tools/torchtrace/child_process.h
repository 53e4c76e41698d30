#pragma once

#include <functional>
#include <string>
#include <vector>

#include "environment_block.h"
#include "signal_guard.h"

namespace torchtrace::cli {

/// Exit codes of `run` where the program could not be started, as a shell has them.
enum StartFailure : int { kExitNotExecutable = 126, kExitNotFound = 127 };

/// How the program ended.
struct ProgramEnd {
  int start_error = 0;  ///< errno where it could not be started.
  int wait_status = 0;  ///< As of waitpid.
};

/// What is to be served while the program runs.
struct Listener {
  int fd = -1;                  ///< -1: nothing.
  std::function<void()> serve;  ///< Called when `fd` can be read; bounded, as signals wait for it.
};

/// Runs a program as if we were not there: it has our stdin, stdout, stderr and process group, and
/// gets the signals that are sent to us. When it is stopped from the terminal we stop as well, so
/// that the shell that waits for us takes over; when it ends we return.
///
/// A terminal sends its signals to the whole process group, so the program has them already: these
/// are not passed on. Whoever uses kill(2) on the whole group reaches the program twice.
ProgramEnd run_program(const std::vector<std::string>& words, const EnvironmentBlock& environment,
                       const SignalGuard& signals, const Listener& listener);

/// The exit code that stands for `end`. Where a signal killed the program this process kills itself
/// with the same one, without a core dump of its own, so that a caller sees what it would have
/// seen; only where that has no effect (process 1 of a container) it returns 128 + the signal's
/// number.
int exit_as(const ProgramEnd& end);

}  // namespace torchtrace::cli
