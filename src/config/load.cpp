#include "config/load.h"

#include <string_view>

#include "config/builder.h"
#include "config/environment.h"
#include "config/file_text.h"
#include "config/text.h"
#include "config/toml_reader.h"

namespace torchtrace::config {
namespace {

constexpr const char* kFileVariable = "TORCHTRACE_CONFIG";

std::vector<std::string_view> section_names() {
  std::vector<std::string_view> names;
  for (const Section& section : sections()) names.emplace_back(section.name);
  return names;
}

std::vector<std::string_view> keys_of(std::string_view section) {
  std::vector<std::string_view> keys;
  for (const Option& option : options()) {
    if (section_of(option.name) == section) keys.push_back(key_of(option.name));
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

/// The option of another section whose key is exactly this one, or nullptr.
const Option* option_with_key(std::string_view key) {
  for (const Option& option : options()) {
    if (key_of(option.name) == key) return &option;
  }
  return nullptr;
}

std::string unknown_section(std::string_view name) {
  const std::string_view near = nearest(name, section_names());
  std::string wrong = '[' + printable(name) + "] is not a section";
  if (!near.empty()) return wrong + "; did you mean [" + std::string{near} + "]?";
  return wrong + "; the sections are " + join(section_names());
}

std::string unknown_key(std::string_view name) {
  const std::string section{section_of(name)};
  std::string wrong = printable(name) + " is not an option";
  const std::string_view near = nearest(key_of(name), keys_of(section));
  if (!near.empty()) return wrong + "; did you mean " + section + '.' + std::string{near} + '?';
  if (const Option* elsewhere = option_with_key(key_of(name))) {
    return wrong + "; did you mean " + elsewhere->name + '?';
  }
  return wrong + "; the keys of [" + section + "] are " + join(keys_of(section));
}

std::string outside_sections(std::string_view name) {
  if (is_section(name)) {
    return printable(name) + " is a section, not a key: write [" + std::string{name} + ']';
  }
  std::string wrong = printable(name) + " stands outside any section";
  if (const Option* option = option_with_key(name)) {
    return wrong + "; did you mean " + option->name + '?';
  }
  return wrong + "; the sections are " + join(section_names());
}

/// What is wrong with a setting that is no option; empty where nothing is.
std::string check_place(const Setting& setting) {
  const bool has_section = setting.name.find('.') != std::string::npos;
  const std::string_view section = section_of(setting.name);
  if (has_section) {
    // A section that is unknown has been reported once, by itself.
    return is_section(section) ? unknown_key(setting.name) : std::string{};
  }
  if (setting.value.kind != RawValue::Kind::kTable) return outside_sections(setting.name);
  return is_section(section) ? std::string{} : unknown_section(setting.name);
}

void apply_text(std::string_view text, const std::string& file, Builder& builder,
                LoadResult& result) {
  for (const Setting& setting : read_toml(text, file, result.problems)) {
    if (const Option* option = find_option(setting.name)) {
      builder.apply(*option, setting);
      continue;
    }
    const std::string wrong = check_place(setting);
    if (!wrong.empty()) result.problems.push_back({setting.where + ": " + wrong});
  }
}

/// `source` says, in a message, who named the file.
void apply_file(const std::string& path, const std::string& source, Builder& builder,
                LoadResult& result) {
  std::string text;
  if (read_file(path, text)) {
    apply_text(text, escaped(path), builder, result);
  } else {
    result.problems.push_back({source + "cannot read " + escaped(path) + ": " + text});
  }
}

void apply_environment(const GetEnv& get_env, Builder& builder) {
  for (const Setting& setting : read_environment(get_env)) {
    builder.apply(*find_option(setting.name), setting);
  }
}

/// Runs `fill` on a new result. What can be thrown is std::bad_alloc, and what a caller's `get_env`
/// throws; the result is then empty, as load.h says.
template <typename Fill>
LoadResult build(const Fill& fill) noexcept {
  try {
    LoadResult result;
    Builder builder{result};
    fill(builder, result);
    builder.finish();
    return result;
  } catch (...) {
    return {};
  }
}

}  // namespace

LoadResult load(const GetEnv& get_env, const char* const* environ_block) noexcept {
  return build([&](Builder& builder, LoadResult& result) {
    const std::string_view path = variable(get_env, kFileVariable);
    if (!path.empty()) apply_file(std::string{path}, "TORCHTRACE_CONFIG: ", builder, result);
    apply_environment(get_env, builder);
    check_names(environ_block, result);
  });
}

LoadResult load_file(const std::string& path) noexcept {
  return build(
      [&](Builder& builder, LoadResult& result) { apply_file(path, "", builder, result); });
}

}  // namespace torchtrace::config
