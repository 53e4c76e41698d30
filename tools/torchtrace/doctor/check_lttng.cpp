#include <unistd.h>

#include <cerrno>

#include "doctor/checks.h"
#include "doctor/elf_file.h"
#include "flush/session_daemon.h"

namespace torchtrace::cli {
namespace {

using flush::SessionDaemon;
using flush::SessionDaemonState;

/// A daemon that runs answers within some ms; so do these commands on a busy machine.
constexpr std::chrono::seconds kCommandLimit(3);
constexpr const char* kWithout = "without it programs write their traces themselves, as CTF files";

void check_provider(Findings& findings, const Surroundings& surroundings,
                    const std::string& provider, Verdict if_missing) {
  if (provider.empty()) {
    findings.add(if_missing, "provider", "this torchtrace was built without lttng-ust",
                 "build it where liblttng-ust-dev is installed; " + std::string(kWithout));
    return;
  }
  ElfFile file;
  read_elf_file(provider, file);
  std::string found = provider;
  for (const std::string& name : file.needed) {
    if (name.find("lttng") != std::string::npos) found += "; needs " + name;
  }
  const std::string complaint = try_preload(surroundings, provider);
  if (complaint.empty()) {
    findings.ok("provider", found);
  } else {
    findings.add(if_missing, "provider", found + "; it cannot be loaded: " + complaint,
                 "install lttng-ust (Debian: liblttng-ust1); " + std::string(kWithout));
  }
}

/// True if the command `lttng` can be used.
bool check_commands(Findings& findings, const Surroundings& surroundings, Verdict if_missing) {
  const CommandResult version =
      run_bounded({"lttng", "--version"}, surroundings.environment, surroundings.signals,
                  kCommandLimit, OnInterrupt::kStop);
  const bool has_daemon = !find_program(surroundings, "lttng-sessiond").empty();
  if (version.is_ok() && has_daemon) {
    findings.ok("commands", last_line(version.output));
    return true;
  }
  std::string found = "lttng-sessiond is not on PATH";
  if (version.start_error == ENOENT) {
    found = "the command `lttng` is not on PATH";
  } else if (!version.is_ok()) {
    found = "`lttng --version` fails: " + version.reason();
  }
  findings.add(if_missing, "commands", found,
               "install LTTng's tools (Debian: lttng-tools); " + std::string(kWithout));
  return version.is_ok();
}

struct DaemonPlace {
  const char* name;
  std::string folder;
  /// The one that this user's `lttng` talks to.
  bool is_own;
};

std::string pid_in_words(const SessionDaemon& daemon) {
  return daemon.pid == 0 ? "one of another container" : "pid " + std::to_string(daemon.pid);
}

/// Whether a daemon that listens also answers; a stopped one is not asked.
void check_listening(Findings& findings, const Surroundings& surroundings, const DaemonPlace& place,
                     const SessionDaemon& daemon, bool can_ask) {
  const std::string who = pid_in_words(daemon) + ", in " + place.folder;
  if (!can_ask || !place.is_own) {
    findings.ok(place.name, who + ", listens for programs");
    return;
  }
  const CommandResult answer =
      run_bounded({"lttng", "--no-sessiond", "list"}, surroundings.environment,
                  surroundings.signals, kCommandLimit, OnInterrupt::kStop);
  if (answer.is_ok()) {
    findings.ok(place.name, who + ", answers");
  } else {
    findings.warning(place.name, who + ", listens, but `lttng list` fails: " + answer.reason(),
                     "end that daemon and start it again; until then programs record without it");
  }
}

void check_daemons(Findings& findings, const Surroundings& surroundings, bool can_ask) {
  std::string home = surroundings.variable("LTTNG_HOME");
  if (home.empty()) home = surroundings.variable("HOME");
  const bool is_root = geteuid() == 0;
  const DaemonPlace places[] = {
      {"root's session daemon", flush::kSystemDaemonFolder, is_root},
      {"user's session daemon", home.empty() ? "" : home + "/.lttng", !is_root}};
  bool is_found = false;
  for (const DaemonPlace& place : places) {
    if (place.folder.empty()) continue;
    const SessionDaemon daemon = flush::find_session_daemon(place.folder);
    if (daemon.state == SessionDaemonState::kNone) continue;
    is_found = true;
    if (daemon.state == SessionDaemonState::kListens) {
      check_listening(findings, surroundings, place, daemon, can_ask);
      continue;
    }
    findings.warning(
        place.name, pid_in_words(daemon) + ", in " + place.folder + ", is stopped",
        "continue it (kill -CONT " + std::to_string(daemon.pid) + ") or end it; " + kWithout);
  }
  if (!is_found) {
    findings.ok("session daemon",
                "none runs; `torchtrace run` starts its own, and a preloaded program writes CTF "
                "files");
  }
}

}  // namespace

void check_lttng(Findings& findings, const Surroundings& surroundings, const AgentFiles& agent,
                 bool is_wanted) {
  const Verdict if_missing = is_wanted ? Verdict::kProblem : Verdict::kWarning;
  if (!agent.agent.empty()) {
    check_provider(findings, surroundings, agent.lttng_provider, if_missing);
  }
  const bool can_ask = check_commands(findings, surroundings, if_missing);
  check_daemons(findings, surroundings, can_ask);
}

}  // namespace torchtrace::cli
