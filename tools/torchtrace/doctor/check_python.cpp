#include "doctor/check_python.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstring>

#include "analysis/receipt_check.h"
#include "analysis/units.h"
#include "config/units.h"
#include "doctor/trial.h"

namespace torchtrace::cli {
namespace {

using analysis::ProcessStats;

/// `python3` is tried unasked, so it may not take long.
constexpr std::chrono::seconds kUnaskedLimit(20);
constexpr const char* kNameOne = "name a Python that has PyTorch: torchtrace doctor --python PATH";

/// How the trial ended where it did not get to its end; a clause.
std::string ending_in_words(const Trial& trial) {
  const CommandResult& command = trial.command;
  if (command.start_error != 0)
    return std::string("cannot be run: ") + strerror(command.start_error);
  if (WIFSIGNALED(command.wait_status)) {
    return std::string("was killed in the trial: ") + strsignal(WTERMSIG(command.wait_status));
  }
  if (trial.exit_code() == kTrialException) {
    return "cannot use its PyTorch: " + last_line(command.output);
  }
  return "fails in the trial: " + command.reason();
}

/// Tells PyTorch's own trouble from ours: the same program is run again without the agent.
void report_failure(Findings& findings, const Surroundings& surroundings,
                    const TrialRequest& request, const Trial& trial) {
  if (trial.exit_code() == 0) {
    findings.problem("trial", request.python + " did not run the program given with -c",
                     "if it is not a Python, " + std::string(kNameOne));
    return;
  }
  const std::string what = request.python + ' ' + ending_in_words(trial);
  if (run_without_agent(request, surroundings).is_complete) {
    findings.problem("trial", what + "; without the agent it works",
                     "report this as a defect of torchtrace");
  } else {
    findings.problem("trial", what + "; without the agent as well, so nothing can be recorded",
                     "repair that Python, or name another one with --python");
  }
}

/// False: there is nothing more to say.
bool report_ending(Findings& findings, const Surroundings& surroundings,
                   const TrialRequest& request, const Trial& trial, bool is_asked_for) {
  const Verdict verdict = is_asked_for ? Verdict::kProblem : Verdict::kWarning;
  if (surroundings.signals.is_asked_to_end()) return false;
  if (trial.exit_code() == kTrialNoTorch) {
    findings.add(verdict, "trial",
                 request.python + " has no PyTorch, so there is nothing to record", kNameOne);
  } else if (trial.command.is_timed_out) {
    const auto limit = std::chrono::duration_cast<std::chrono::seconds>(request.limit);
    findings.add(
        verdict, "trial",
        request.python + " did not end within " + std::to_string(limit.count()) +
            " s (import torch, one operator)",
        "give it more time: torchtrace doctor --python " + request.python + " --timeout SECONDS");
  } else if (!trial.is_complete) {
    report_failure(findings, surroundings, request, trial);
  } else if (!trial.traced) {
    const std::string message = trial.agent_message();
    findings.problem("trial",
                     "nothing was recorded in " + request.python + ": " +
                         (message.empty() ? trial.error : message),
                     "what LD_PRELOAD and the configuration say may be the reason");
  }
  return trial.traced.has_value();
}

void report_layout(Findings& findings, const std::string& layout) {
  // Words of observer/layout_check.h: what agrees is one of these, else the check that failed.
  const bool agrees = layout.rfind("verified", 0) == 0 || layout.rfind("agrees", 0) == 0;
  if (agrees) {
    findings.ok("layout", layout);
  } else {
    findings.warning("layout", layout, "report the PyTorch's version as one that is not known");
  }
}

void report_process(Findings& findings, const analysis::ProcessInfo& info) {
  const auto duration = [](std::uint64_t ns) {
    return config::format_quantity(ns, config::Dimension::kTime);
  };
  findings.ok("PyTorch", info.torch_version + ", " + info.torch_path);
  report_layout(findings, info.torch_layout);
  findings.ok("clock", info.clock == "tsc" ? "the CPU's time-stamp counter, " +
                                                 std::to_string(info.clock_hz / 1'000'000) + " MHz"
                                           : "CLOCK_MONOTONIC");
  findings.ok("flush", "rings are emptied every " + duration(info.period_ns) +
                           ", events held back for " + duration(info.hold_ns) + " to be ordered");
}

std::uint64_t additions_in(const analysis::TraceModel& model) {
  std::uint64_t calls = 0;
  for (const analysis::OperatorStats& stats : model.operators) {
    // The overload is missing where the layout could not be verified.
    if (stats.name == "aten::add.Tensor" || stats.name == "aten::add") {
      calls += stats.durations.count();
    }
  }
  return calls;
}

void report_operators(Findings& findings, const analysis::TraceModel& model,
                      const ProcessStats& process) {
  const std::uint64_t started = process.receipt ? process.receipt->started : 0;
  const std::uint64_t additions = additions_in(model);
  const bool has_all =
      process.receipt && process.read == started && analysis::check_receipt(process, false).holds();
  const std::string found =
      analysis::format_count(process.read) + " of " + analysis::format_count(started) +
      " are in the trace, " + std::to_string(std::min(additions, kTrialAdditions)) +
      " of the trial's " + std::to_string(kTrialAdditions) + " additions among them";
  if (has_all && additions >= kTrialAdditions) {
    findings.ok("operators", found);
  } else {
    findings.problem("operators", found,
                     "`torchtrace run` that program: its report says what was lost, and why");
  }
}

/// The one that ran the operators: a wrapper script may start others.
const ProcessStats* main_process(const analysis::TraceModel& model) {
  const auto most = std::max_element(
      model.processes.begin(), model.processes.end(),
      [](const ProcessStats& a, const ProcessStats& b) { return a.read < b.read; });
  return most == model.processes.end() || !most->info ? nullptr : &*most;
}

void report_trace(Findings& findings, const Trial& trial) {
  const ProcessStats* process = main_process(*trial.traced);
  if (process == nullptr) {
    findings.problem("trial", "the trace does not say which process it is of",
                     "report this as a defect");
    return;
  }
  report_process(findings, *process->info);
  report_operators(findings, *trial.traced, *process);
  const std::string message = trial.agent_message();
  if (!message.empty()) findings.warning("message", message, "see docs/configuration.md");
}

/// Whether the trial would show anything: it runs operators and nothing else.
bool records_operators(const std::optional<config::Config>& config) {
  return config && config->filters.scopes[static_cast<std::size_t>(core::Scope::kFunction)];
}

}  // namespace

void check_python(Findings& findings, const Surroundings& surroundings,
                  const PythonRequest& request) {
  const bool is_asked_for = !request.python.empty();
  const std::string name = is_asked_for ? request.python : "python3";
  const std::string python = find_program(surroundings, name);
  if (python.empty()) {
    findings.add(is_asked_for ? Verdict::kProblem : Verdict::kWarning, "interpreter",
                 name + " is not a program that can be executed", kNameOne);
    return;
  }
  const std::string obstacle = why_not_preloaded(python);
  if (!obstacle.empty()) {
    findings.problem("interpreter", obstacle + ", so nothing is recorded in it",
                     "trace another build of that program");
    return;
  }
  const bool uses_configuration = records_operators(request.config);
  findings.ok("interpreter",
              python + (uses_configuration ? "" : ", tried with the default configuration"));
  const auto limit = is_asked_for ? request.limit : std::min(request.limit, kUnaskedLimit);
  const TrialRequest trial_request = {python, request.agent, limit, uses_configuration};
  const Trial trial = run_trial(trial_request, surroundings);
  if (report_ending(findings, surroundings, trial_request, trial, is_asked_for)) {
    report_trace(findings, trial);
  }
}

}  // namespace torchtrace::cli
