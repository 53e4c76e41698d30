#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "environment_block.h"
#include "signal_guard.h"

namespace torchtrace::cli {

struct SpawnRequest {
  std::vector<std::string> words;  ///< The program, searched in PATH, and its arguments.
  const EnvironmentBlock& environment;
  const SignalGuard& signals;
  /// Takes stdout and stderr, and stdin is empty; -1: all three are inherited.
  int output_fd = -1;
  /// In a session of its own: a terminal's signals do not reach it.
  bool is_detached = false;
  /// Sent to it when this process dies, however that happens; 0: none.
  int signal_at_our_death = 0;
};

struct SpawnResult {
  pid_t pid = -1;  ///< -1: it could not be started.
  int error = 0;   ///< errno of the call that failed, execve's included.
};

/// Starts a program, whose status the caller must wait for.
SpawnResult spawn(const SpawnRequest& request);

}  // namespace torchtrace::cli
