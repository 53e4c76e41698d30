#include "doctor/findings_output.h"

#include <nlohmann/json.hpp>

#include <ostream>

namespace torchtrace::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "torchtrace.doctor/1";

const char* word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kWarning:
      return "warning";
    case Verdict::kProblem:
      break;
  }
  return "problem";
}

/// ECMA-48, "select graphic rendition": green, yellow, red.
const char* color(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "\033[32m";
    case Verdict::kWarning:
      return "\033[33m";
    case Verdict::kProblem:
      break;
  }
  return "\033[31m";
}

/// "1 problem", "2 problems".
std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

}  // namespace

void write_finding(const Finding& finding, const std::string& previous_group,
                   const analysis::TextStyle& style, std::ostream& out) {
  if (finding.group != previous_group) {
    out << (previous_group.empty() ? "" : "\n") << analysis::bold(finding.group, style) << '\n';
  }
  const std::string verdict = word(finding.verdict);
  const std::string gap(9 - verdict.size(), ' ');
  out << "  " << (style.color ? color(finding.verdict) + verdict + "\033[0m" : verdict) << gap
      << finding.name << ": " << finding.found << '\n';
  if (!finding.advice.empty()) out << "           -> " << finding.advice << '\n';
}

void write_summary(const Findings& findings, std::ostream& out) {
  const std::size_t problems = findings.count(Verdict::kProblem);
  const std::size_t warnings = findings.count(Verdict::kWarning);
  out << '\n';
  if (problems == 0 && warnings == 0) {
    out << "All is well.\n";
  } else {
    out << counted(problems, "problem") << ", " << counted(warnings, "warning") << ".\n";
  }
}

void write_json(const Findings& findings, std::ostream& out) {
  Json checks = Json::array();
  for (const Finding& finding : findings.all()) {
    checks.push_back({{"group", finding.group},
                      {"name", finding.name},
                      {"verdict", word(finding.verdict)},
                      {"found", finding.found},
                      {"advice", finding.advice.empty() ? Json(nullptr) : Json(finding.advice)}});
  }
  const Json json = {{"schema", kSchema},
                     {"version", TORCHTRACE_VERSION},
                     {"problems", findings.count(Verdict::kProblem)},
                     {"warnings", findings.count(Verdict::kWarning)},
                     {"checks", std::move(checks)}};
  // Paths and messages of other programs need not be UTF-8.
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace torchtrace::cli
