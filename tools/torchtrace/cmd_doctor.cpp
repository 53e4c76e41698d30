#include <CLI/CLI.hpp>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <string>

#include "commands.h"
#include "config/load.h"
#include "doctor/check_python.h"
#include "doctor/checks.h"
#include "doctor/findings.h"
#include "doctor/findings_output.h"
#include "terminal.h"

namespace torchtrace::cli {
namespace {

struct DoctorArguments {
  std::string python;
  bool json = false;
  int timeout_s = 60;
};

/// Where the configuration is broken, the sizes that hold without one are looked at.
config::Config config_or_default(const std::optional<config::Config>& config) {
  if (config) return *config;
  return config::load([](const char*) { return nullptr; }, nullptr)
      .config.value_or(config::Config{});
}

/// All checks, one group after the other. Ends early, between two, when we are asked to end.
class Examination {
 public:
  Examination(const DoctorArguments& arguments, const Surroundings& surroundings,
              Findings& findings)
      : arguments_(arguments), surroundings_(surroundings), findings_(findings) {}

  void run() {
    const auto steps = {&Examination::installation, &Examination::configuration,
                        &Examination::memory, &Examination::lttng, &Examination::python};
    for (const auto step : steps) {
      if (!surroundings_.signals.is_asked_to_end()) (this->*step)();
    }
  }

 private:
  void installation() {
    findings_.begin("Installation");
    agent_ = check_installation(findings_, surroundings_);
    check_preloads(findings_, surroundings_, agent_.agent);
  }

  void configuration() {
    findings_.begin("Configuration");
    config_ = check_configuration(findings_, surroundings_);
    if (config_) check_output(findings_, config_->output);
  }

  void memory() {
    findings_.begin("Shared memory");
    check_shared_memory(findings_, config_or_default(config_).buffer);
  }

  void lttng() {
    findings_.begin("LTTng");
    const bool is_wanted = config_ && config_->output.sink == config::SinkKind::kLttng;
    check_lttng(findings_, surroundings_, agent_, is_wanted);
  }

  void python() {
    findings_.begin("Python");
    if (agent_.agent.empty()) {
      findings_.warning("trial", "not made, since there is no agent", "see above");
      return;
    }
    check_python(findings_, surroundings_,
                 {arguments_.python, std::chrono::seconds(arguments_.timeout_s), agent_, config_});
  }

  const DoctorArguments& arguments_;
  const Surroundings& surroundings_;
  Findings& findings_;
  AgentFiles agent_;
  std::optional<config::Config> config_;
};

/// Shows findings as they come, unless they are for a program to read.
Findings make_findings(bool is_json) {
  if (is_json) return Findings([](const Finding&) {});
  std::string group;
  return Findings([group, style = style_for(std::cout)](const Finding& finding) mutable {
    write_finding(finding, group, style, std::cout);
    std::cout.flush();
    group = finding.group;
  });
}

int examine(const DoctorArguments& arguments) {
  Findings findings = make_findings(arguments.json);
  {
    // An interrupt takes effect when this ends: nothing must be left behind.
    const SignalGuard signals;
    const EnvironmentBlock environment(environ);
    const Surroundings surroundings = {environment, signals};
    Examination(arguments, surroundings, findings).run();
  }
  arguments.json ? write_json(findings, std::cout) : write_summary(findings, std::cout);
  if (!std::cout.flush()) {
    std::fputs("torchtrace doctor: cannot write to stdout: is the disk full?\n", stderr);
    return kExitFailed;
  }
  return findings.count(Verdict::kProblem) == 0 ? kExitOk : kExitFailed;
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<DoctorArguments>();
  CLI::App* command = app.add_subcommand(
      "doctor", "Tell what is installed, what will work, and what to do about the rest");
  command
      ->add_option("--python", arguments->python,
                   "Try this Python: run some PyTorch operators in it and read their trace back "
                   "(default: python3, if it has PyTorch)")
      ->type_name("PATH");
  command->add_flag("--json", arguments->json, "Machine-readable: schema torchtrace.doctor/1");
  command
      ->add_option("--timeout", arguments->timeout_s,
                   "How long the trial may take (60); python3 unasked at most 20 s")
      ->check(CLI::Range(1, 3600))
      ->type_name("SECONDS");
  command->footer("Exit code: 0 where nothing is a problem (warnings may be), else 1.");
  command->callback([arguments, &exit_code] { exit_code = examine(*arguments); });
}

}  // namespace torchtrace::cli
