#include "config/environment.h"

#include <algorithm>
#include <array>
#include <string>

#include "config/option_table.h"
#include "config/text.h"
#include "config/value.h"

namespace torchtrace::config {
namespace {

constexpr std::string_view kPrefix = "TORCHTRACE_";
constexpr std::array<std::string_view, 2> kReserved{"TORCHTRACE_CONFIG", "TORCHTRACE_DEVICE"};

std::vector<std::string> option_names() {
  std::vector<std::string> names;
  for (const Option& option : options()) names.push_back(environment_name(option));
  return names;
}

bool holds(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_reserved(std::string_view name) {
  return std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
}

const Section* section_named_by(std::string_view name) {
  for (const Section& section : sections()) {
    const std::string beginning = std::string{kPrefix} + upper(section.name) + '_';
    if (name.substr(0, beginning.size()) == beginning) return &section;
  }
  return nullptr;
}

/// "; did you mean X?", or nothing.
std::string suggestion(std::string_view name, const std::vector<std::string>& names) {
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string_view near = nearest(name, candidates);
  return near.empty() ? std::string{} : "; did you mean " + std::string{near} + '?';
}

std::vector<std::string> names_of_section(const Section& section) {
  std::vector<std::string> names;
  for (const Option& option : options()) {
    if (section_of(option.name) == section.name) names.push_back(environment_name(option));
  }
  return names;
}

void check_name(std::string_view name, const std::vector<std::string>& known, LoadResult& result) {
  if (is_reserved(name) || holds(known, name)) return;
  const std::string where = "environment: " + printable(name);
  if (const Section* section = section_named_by(name)) {
    std::string near = suggestion(name, names_of_section(*section));
    if (near.empty()) near = suggestion(name, known);
    result.problems.push_back({where + " is not an option" + near});
  } else {
    result.notes.push_back({where + " is ignored: it names no option" + suggestion(name, known)});
  }
}

}  // namespace

std::string_view variable(const GetEnv& get_env, const char* name) {
  const char* value = get_env ? get_env(name) : nullptr;
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

std::vector<Setting> read_environment(const GetEnv& get_env) {
  std::vector<Setting> settings;
  for (const Option& option : options()) {
    const std::string name = environment_name(option);
    const std::string_view text = variable(get_env, name.c_str());
    if (text.empty()) continue;
    settings.push_back({name, 0, option.name, raw_from_text(option, text)});
  }
  return settings;
}

void check_names(const char* const* environ_block, LoadResult& result) {
  if (environ_block == nullptr) return;
  const std::vector<std::string> known = option_names();
  for (; *environ_block != nullptr; ++environ_block) {
    const std::string_view entry{*environ_block};
    if (entry.substr(0, kPrefix.size()) != kPrefix) continue;
    check_name(entry.substr(0, entry.find('=')), known, result);
  }
}

}  // namespace torchtrace::config
