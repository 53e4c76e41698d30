#include "config/suggest.h"

#include "config/text.h"

namespace torchtrace::config {
namespace {

const Option* find_in_section(std::string_view section, std::string_view key) {
  for (const Option& option : options()) {
    if (section_of(option.name) == section && key_of(option.name) == key) return &option;
  }
  return nullptr;
}

const Option* find_in_any_section(std::string_view key) {
  for (const Option& option : options()) {
    if (key_of(option.name) == key) return &option;
  }
  return nullptr;
}

}  // namespace

const Option* suggest_option(std::string_view section, std::string_view key) {
  const std::string_view near = nearest(key, keys_of(section));
  return near.empty() ? find_in_any_section(lower(key)) : find_in_section(section, near);
}

std::vector<std::string_view> section_names() {
  std::vector<std::string_view> names;
  for (const Section& section : sections()) names.emplace_back(section.name);
  return names;
}

std::vector<std::string_view> keys_of(std::string_view section) {
  std::vector<std::string_view> keys;
  for (const Option& option : options()) {
    if (section_of(option.name) == section) keys.emplace_back(key_of(option.name));
  }
  return keys;
}

std::string join(const std::vector<std::string_view>& names) {
  std::string out;
  for (const std::string_view name : names) {
    if (!out.empty()) out += ", ";
    out += name;
  }
  return out;
}

}  // namespace torchtrace::config
