#include <elf.h>

#include <filesystem>
#include <system_error>

#include "analysis/bt_version.h"
#include "analysis/trace_error.h"
#include "doctor/checks.h"
#include "doctor/elf_file.h"

namespace torchtrace::cli {
namespace {

namespace fs = std::filesystem;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// "PATH; needs libc.so.6"
std::string library_in_words(const std::string& path) {
  ElfFile file;
  read_elf_file(path, file);
  return file.needed.empty() ? path : path + "; needs " + joined(file.needed);
}

/// A library that would become the agent where it is loaded before ours.
bool is_agent_name(const std::string& file) {
  return file == "libtorchtrace.so" || file == "libTracerPytorch.so";
}

std::vector<std::string> preloaded(const Surroundings& surroundings) {
  const std::string list = surroundings.variable("LD_PRELOAD");
  std::vector<std::string> libraries;
  // Blank or colon: ld.so(8).
  for (std::size_t begin = list.find_first_not_of(" :"); begin != std::string::npos;) {
    const std::size_t end = std::min(list.find_first_of(" :", begin), list.size());
    libraries.push_back(list.substr(begin, end - begin));
    begin = list.find_first_not_of(" :", end);
  }
  return libraries;
}

void check_babeltrace(Findings& findings) {
  try {
    findings.ok("libbabeltrace2", analysis::usable_babeltrace_version());
  } catch (const analysis::TraceError& error) {
    findings.problem("libbabeltrace2", error.what(),
                     "without it traces are written, but `report` and `print` cannot read them "
                     "(Debian: libbabeltrace2-0)");
  }
}

}  // namespace

AgentFiles check_installation(Findings& findings, const Surroundings& surroundings) {
  std::string error;
  AgentFiles files = find_agent(error);
  if (files.agent.empty()) {
    findings.problem("agent", error, "nothing can be traced until then");
  } else {
    const std::string complaint = try_preload(surroundings, files.agent);
    const std::string found = library_in_words(files.agent);
    if (complaint.empty()) {
      findings.ok("agent", found);
    } else {
      findings.problem("agent", found + "; a program that preloads it says: " + complaint,
                       "build or install torchtrace again, on this system");
    }
  }
  check_babeltrace(findings);
  return files;
}

void check_preloads(Findings& findings, const Surroundings& surroundings,
                    const std::string& agent) {
  const std::vector<std::string> libraries = preloaded(surroundings);
  if (libraries.empty()) {
    findings.ok("LD_PRELOAD", "not set; `torchtrace run` sets it for the program alone");
    return;
  }
  std::error_code error;
  for (const std::string& library : libraries) {
    const bool is_ours = !agent.empty() && fs::equivalent(library, agent, error);
    if (is_ours || !is_agent_name(fs::path(library).filename())) continue;
    findings.warning("LD_PRELOAD",
                     "names another agent, " + library +
                         "; of two in one program the first records, the other one stays off",
                     "take it out of LD_PRELOAD");
  }
  const std::string list = surroundings.variable("LD_PRELOAD");
  const std::string complaint =
      try_preload(surroundings, agent.empty() ? list : agent + ':' + list);
  if (complaint.empty()) {
    findings.ok("LD_PRELOAD", joined(libraries) + (agent.empty() ? "" : "; loads with the agent"));
  } else {
    findings.warning("LD_PRELOAD", "a program that is started with it says: " + complaint,
                     "every program says so, traced or not; correct LD_PRELOAD");
  }
}

}  // namespace torchtrace::cli
