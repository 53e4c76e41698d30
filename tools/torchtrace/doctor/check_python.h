#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "agent_files.h"
#include "config/config.h"
#include "doctor/findings.h"
#include "doctor/surroundings.h"

namespace torchtrace::cli {

struct PythonRequest {
  std::string python;  ///< Empty: `python3`, if it has PyTorch.
  std::chrono::seconds limit;
  const AgentFiles& agent;  ///< Must have been found.
  const std::optional<config::Config>& config;
};

/// Tries a Python: a small PyTorch program, traced and read back.
void check_python(Findings& findings, const Surroundings& surroundings,
                  const PythonRequest& request);

/// Why the loader will not load the agent into this program, a clause; empty: it will, or the file
/// is a script, and its interpreter decides.
std::string why_not_preloaded(const std::string& program);

}  // namespace torchtrace::cli
