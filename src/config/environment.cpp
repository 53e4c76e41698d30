#include "config/environment.h"

#include <algorithm>
#include <array>
#include <string>

#include "config/option_table.h"
#include "config/suggest.h"
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

std::string names_of_section(std::string_view section) {
  std::string names;
  for (const Option& option : options()) {
    if (section_of(option.name) != section) continue;
    names += (names.empty() ? "" : ", ") + environment_name(option);
  }
  return names;
}

std::string unknown_variable(std::string_view name, const Section& section) {
  const std::string_view key =
      name.substr(kPrefix.size() + std::string_view{section.name}.size() + 1);
  if (const Option* option = suggest_option(section.name, key)) {
    return "; did you mean " + environment_name(*option) + '?';
  }
  return std::string{"; the options of ["} + section.name + "] are " +
         names_of_section(section.name);
}

/// Names that are near no section are not ours to judge: the nearest whole name is only offered.
std::string ignored_variable(std::string_view name, const std::vector<std::string>& known) {
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  const std::string_view near = nearest(name, candidates);
  return near.empty() ? std::string{} : "; did you mean " + std::string{near} + '?';
}

void check_name(std::string_view name, const std::vector<std::string>& known, LoadResult& result) {
  if (is_reserved(name) || holds(known, name)) return;
  const std::string where = "environment: " + printable(name);
  if (const Section* section = section_named_by(name)) {
    result.problems.push_back({where + " is not an option" + unknown_variable(name, *section)});
  } else {
    result.notes.push_back(
        {where + " is ignored: it names no option" + ignored_variable(name, known)});
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
