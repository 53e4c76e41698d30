#pragma once

#include <string>

#include "environment_block.h"

namespace torchtrace::cli {

/// The agent that belongs to this executable: in the same build tree or under the same prefix.
struct AgentFiles {
  std::string agent;           ///< Absolute path of libtorchtrace.so; empty: not found.
  std::string lttng_provider;  ///< libtorchtrace-lttng.so; empty where built without lttng-ust.
};

/// Errors: an empty `agent` and a sentence in `error`, also where the path cannot be preloaded.
AgentFiles find_agent(std::string& error);

/// Puts the agent in front of what the user preloads already.
void preload_agent(const AgentFiles& files, EnvironmentBlock& program);

}  // namespace torchtrace::cli
