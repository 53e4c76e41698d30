#include "config/load.h"

#include <string_view>

#include "config/builder.h"
#include "config/environment.h"
#include "config/file_text.h"
#include "config/option_table.h"
#include "config/suggest.h"
#include "config/text.h"
#include "config/toml_reader.h"

namespace torchtrace::config {
namespace {

constexpr const char* kFileVariable = "TORCHTRACE_CONFIG";

std::string did_you_mean(const Option& option) {
  return std::string{"; did you mean "} + option.name + '?';
}

std::string unknown_section(std::string_view name) {
  const std::string_view near = nearest(name, section_names());
  const std::string wrong = '[' + printable(name) + "] is not a section";
  if (!near.empty()) return wrong + "; did you mean [" + std::string{near} + "]?";
  return wrong + "; the sections are " + join(section_names());
}

std::string unknown_key(std::string_view name) {
  const std::string wrong = printable(name) + " is not an option";
  const std::string_view section = section_of(name);
  if (const Option* option = suggest_option(section, key_of(name))) {
    return wrong + did_you_mean(*option);
  }
  return wrong + "; the keys of [" + std::string{section} + "] are " + join(keys_of(section));
}

std::string outside_sections(std::string_view name) {
  if (is_section(name)) {
    return printable(name) + " is a section, not a key: write [" + std::string{name} + ']';
  }
  const std::string wrong = printable(name) + " stands outside any section";
  if (const Option* option = suggest_option({}, name)) return wrong + did_you_mean(*option);
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
