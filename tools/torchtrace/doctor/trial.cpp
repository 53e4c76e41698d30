#include "doctor/trial.h"

#include <sys/wait.h>

#include <algorithm>

#include "abort_guard.h"
#include "analysis/trace_error.h"
#include "output_directory.h"
#include "scratch_directory.h"

namespace torchtrace::cli {
namespace {

constexpr const char* kDone = "torchtrace: the trial is complete";

std::string program() {
  const std::string no_torch = std::to_string(kTrialNoTorch);
  const std::string exception = std::to_string(kTrialException);
  return "import sys\n"
         "try:\n"
         "    import importlib.util\n"
         "    if importlib.util.find_spec('torch') is None: sys.exit(" +
         no_torch +
         ")\n"
         "    import torch\n"
         "    for _ in range(" +
         std::to_string(kTrialAdditions) +
         "): torch.ones(2) + 1\n"
         "except Exception as error:\n"
         "    print(type(error).__name__ + ': ' + ' '.join(str(error).split())[:400])\n"
         "    sys.exit(" +
         exception +
         ")\n"
         "print('" +
         kDone + "')\n";
}

/// The variables that do not configure torchtrace.
EnvironmentBlock without_configuration(const EnvironmentBlock& environment) {
  std::vector<char*> block = environment.pointers();
  block.erase(std::remove_if(block.begin(), block.end(),
                             [](const char* entry) {
                               return entry != nullptr &&
                                      std::string_view(entry).rfind("TORCHTRACE_", 0) == 0;
                             }),
              block.end());
  return EnvironmentBlock(block.data());
}

Trial run_program(const TrialRequest& request, const Surroundings& surroundings,
                  const EnvironmentBlock& environment) {
  Trial trial;
  trial.command = run_bounded({request.python, "-c", program()}, environment, surroundings.signals,
                              request.limit, OnInterrupt::kStop);
  trial.is_complete =
      trial.command.is_ok() && trial.command.output.find(kDone) != std::string::npos;
  return trial;
}

void read_back(Trial& trial, const std::string& directory) {
  if (!holds_trace(directory)) {
    trial.error = "the agent wrote no trace";
    return;
  }
  const AbortGuard guard(directory);
  try {
    trial.traced = analysis::load_model(directory);
  } catch (const analysis::TraceError& error) {
    trial.error = error.what();
  }
}

/// The loader's own, and the agent's (core/log.h).
bool is_message(const std::string& line) {
  return line.find("ld.so: object") != std::string::npos || line.rfind("torchtrace[", 0) == 0;
}

}  // namespace

int Trial::exit_code() const {
  const bool has_ended = command.start_error == 0 && !command.is_timed_out;
  return has_ended && WIFEXITED(command.wait_status) ? WEXITSTATUS(command.wait_status) : -1;
}

std::string Trial::agent_message() const {
  const std::string& text = command.output;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    if (is_message(line)) return line;
    begin = end + 1;
  }
  return {};
}

Trial run_trial(const TrialRequest& request, const Surroundings& surroundings) {
  Trial trial;
  const std::unique_ptr<ScratchDirectory> scratch = ScratchDirectory::create(trial.error);
  if (!scratch) return trial;
  EnvironmentBlock environment = request.uses_configuration
                                     ? surroundings.environment
                                     : without_configuration(surroundings.environment);
  const std::string directory = scratch->path() + "/trace";
  environment.set("TORCHTRACE_OUTPUT_SINK", "ctf");
  environment.set("TORCHTRACE_OUTPUT_DIRECTORY", directory);
  preload_agent(request.agent, environment);
  trial = run_program(request, surroundings, environment);
  if (trial.is_complete) read_back(trial, directory);
  return trial;
}

Trial run_without_agent(const TrialRequest& request, const Surroundings& surroundings) {
  return run_program(request, surroundings, surroundings.environment);
}

}  // namespace torchtrace::cli
