#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "agent_files.h"
#include "analysis/trace_model.h"
#include "doctor/surroundings.h"

namespace torchtrace::cli {

/// What the trial's Python program ends with where it does not get to its end.
enum TrialExit : int {
  kTrialNoTorch = 43,   ///< There is no module `torch`.
  kTrialException = 44  ///< `import torch` or the operators raised; the last line says what.
};

/// How many times the program runs `torch.ones(2) + 1`: enough for the layout to be verified.
inline constexpr std::uint64_t kTrialAdditions = 64;

struct TrialRequest {
  std::string python;
  const AgentFiles& agent;
  std::chrono::milliseconds limit;
  /// False: the defaults, whatever the environment says.
  bool uses_configuration = true;
};

struct Trial {
  CommandResult command;
  bool is_complete = false;                    ///< The program says that it got to its end.
  std::optional<analysis::TraceModel> traced;  ///< Read back from what the agent wrote.
  std::string error;                           ///< Why nothing was read.

  int exit_code() const;              ///< -1: it did not end by itself.
  std::string agent_message() const;  ///< What the agent, or the loader, said; one line or none.
};

/// Runs a small PyTorch program in that interpreter with the agent, which writes into a temporary
/// folder, and reads back what was written.
Trial run_trial(const TrialRequest& request, const Surroundings& surroundings);

/// The same program without the agent.
Trial run_without_agent(const TrialRequest& request, const Surroundings& surroundings);

}  // namespace torchtrace::cli
