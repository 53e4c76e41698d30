#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "environment_block.h"
#include "signal_guard.h"

namespace torchtrace::cli {

struct CommandResult {
  bool is_timed_out = false;  ///< Killed, with all of its children, when the limit was over.
  int start_error = 0;        ///< errno where it could not be started.
  int wait_status = 0;        ///< As of waitpid.
  std::string output;         ///< stdout and stderr.

  bool is_ok() const { return !is_timed_out && start_error == 0 && wait_status == 0; }
  /// Why it is not ok, for the end of a sentence: the last line of its output if there is one.
  std::string reason() const;
};

/// All of an open file, from its beginning.
std::string text_of(int fd);

/// The last line of `text` that is not empty, without its end.
std::string last_line(const std::string& text);

/// What a signal that asks us to end means for the command: nothing, since it is soon over and its
/// work must be done, or its end, as if the limit were over. The signal stays pending.
enum class OnInterrupt { kFinish, kStop };

/// Runs a helper program that must not be able to hold us up, in a session of its own and with
/// empty stdin.
CommandResult run_bounded(const std::vector<std::string>& words,
                          const EnvironmentBlock& environment, const SignalGuard& signals,
                          std::chrono::milliseconds limit,
                          OnInterrupt on_interrupt = OnInterrupt::kFinish);

}  // namespace torchtrace::cli
