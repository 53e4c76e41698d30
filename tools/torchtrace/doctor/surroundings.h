#pragma once

#include <string>

#include "bounded_command.h"
#include "environment_block.h"
#include "signal_guard.h"

namespace torchtrace::cli {

/// What every check looks at.
struct Surroundings {
  const EnvironmentBlock& environment;
  const SignalGuard& signals;

  std::string variable(const std::string& name) const {
    const char* value = environment.get(name);
    return value == nullptr ? "" : value;
  }
};

/// Runs /bin/true, or whatever `true` is on PATH, with `preload` as its LD_PRELOAD.
/// Returns what the loader has to say, one line; empty: all of it was loaded in silence.
std::string try_preload(const Surroundings& surroundings, const std::string& preload);

/// The path of a program as a shell finds it; empty: there is none that can be executed.
std::string find_program(const Surroundings& surroundings, const std::string& name);

}  // namespace torchtrace::cli
