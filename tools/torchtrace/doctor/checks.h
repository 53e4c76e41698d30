#pragma once

#include <optional>

#include "agent_files.h"
#include "config/config.h"
#include "doctor/findings.h"
#include "doctor/surroundings.h"

namespace torchtrace::cli {

/// The configuration that TORCHTRACE_CONFIG and the environment give. No value: it is broken.
std::optional<config::Config> check_configuration(Findings& findings,
                                                  const Surroundings& surroundings);

/// The folder that traces go to.
void check_output(Findings& findings, const config::Config::Output& output);

/// Which of our libraries are there and can be loaded. An empty path: not there.
AgentFiles check_installation(Findings& findings, const Surroundings& surroundings);

/// What else LD_PRELOAD names. `agent` may be empty.
void check_preloads(Findings& findings, const Surroundings& surroundings, const std::string& agent);

/// The provider, the commands and the daemons. `is_wanted`: the configuration wants LTTng and
/// nothing else, so that what is missing is a problem.
void check_lttng(Findings& findings, const Surroundings& surroundings, const AgentFiles& agent,
                 bool is_wanted);

/// /dev/shm and what killed programs have left there.
void check_shared_memory(Findings& findings, const config::Config::Buffer& buffer);

}  // namespace torchtrace::cli
