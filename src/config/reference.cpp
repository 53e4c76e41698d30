#include "config/reference.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "config/option_table.h"
#include "config/units.h"
#include "config/value.h"

namespace torchtrace::config {
namespace {

constexpr std::size_t kColumns = 100;

/// Appends the words of `text`, each line beginning with `indent` and fitting the columns.
void append_wrapped(std::string& out, std::string_view indent, std::string_view text) {
  std::string line{indent};
  bool is_empty = true;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    if (!is_empty && line.size() + 1 + word.size() > kColumns) {
      out += line + '\n';
      line = indent;
      is_empty = true;
    }
    if (!is_empty) line += ' ';
    line += word;
    is_empty = false;
  }
  out += line + '\n';
}

std::string default_toml(const Option& option) {
  Value value;
  parse_value(option, raw_from_text(option, option.default_text), value);
  return toml_text(option, value);
}

std::size_t longest_name(const Option& option) {
  std::size_t longest = 0;
  for (const Choice& choice : option.choices) {
    longest = std::max(longest, std::string_view{choice.name}.size());
  }
  return longest;
}

void append_choices(std::string& out, const Option& option) {
  const std::size_t width = longest_name(option);
  for (const Choice& choice : option.choices) {
    std::string name{choice.name};
    name.resize(width, ' ');
    out += "#   " + name + "  " + choice.help + '\n';
  }
}

void append_sample(std::string& out, const Option& option) {
  out += '\n';
  append_wrapped(out, "# ", option.help);
  append_choices(out, option);
  const std::string bounds = describe_bounds(option);
  if (!bounds.empty()) append_wrapped(out, "# ", "Allowed: " + bounds + '.');
  out += "# Environment: " + environment_name(option) + '\n';
  out += '#' + std::string{key_of(option.name)} + " = " + default_toml(option) + '\n';
}

void append_markdown_choices(std::string& out, const Option& option) {
  if (option.choices.size() == 0) return;
  out += "\n| value | meaning |\n| --- | --- |\n";
  for (const Choice& choice : option.choices) {
    out += std::string{"| `"} + choice.name + "` | " + choice.help + " |\n";
  }
}

void append_markdown(std::string& out, const Option& option) {
  out += std::string{"\n### `"} + option.name + "`\n\n";
  append_wrapped(out, "", option.help);
  out += "\n- Type: " + describe_type(option) + '\n';
  const std::string bounds = describe_bounds(option);
  if (!bounds.empty()) out += "- Allowed: " + bounds + '\n';
  out += "- Default: `" + default_toml(option) + "`\n";
  out += "- Environment: `" + environment_name(option) + "`\n";
  append_markdown_choices(out, option);
}

constexpr const char* kSampleHead =
    R"(# Options of torchtrace, as `torchtrace config init` writes them: each is shown with its default,
# commented out. Remove the leading # to change one.
#
# Use it with      TORCHTRACE_CONFIG=torchtrace.toml, or torchtrace run -c torchtrace.toml
# Check it with    torchtrace config check torchtrace.toml
#
# For one run, an environment variable beats the file: TORCHTRACE_OUTPUT_HOLD=20ms.
)";

constexpr const char* kMarkdownHead =
    R"(# Configuration

<!-- Made by `torchtrace config init --markdown` from src/config/option_table.cpp: change that. -->

Without any configuration, every option has its default. There are two ways to set some:

- A TOML file, named by `TORCHTRACE_CONFIG`. `torchtrace config init torchtrace.toml` writes one
  with every option, commented out; `config/examples/` has some for common uses.
- An environment variable for each option, `TORCHTRACE_SECTION_KEY`. It beats the file. Lists are
  separated by commas; an empty variable counts as unset.

`torchtrace config check [FILE]` says what is wrong with a configuration, or what it will record and
where; `torchtrace config show [FILE]` lists the effective values and where each comes from.

A mistake is reported with file, line, key, value and what is allowed. The traced program then runs
as usual, untraced; `torchtrace run` refuses to start it, with exit code 2. Both the file and the
environment are ignored in setuid programs.

)";

std::string units_sentence() {
  return "Sizes and durations are written in quotes with their unit, decimals allowed: sizes in " +
         unit_names(Dimension::kBytes) +
         " (KiB and so on are powers of 1024; no unit means bytes), durations in " +
         unit_names(Dimension::kTime) + ".";
}

}  // namespace

std::string sample_toml() {
  std::string out = kSampleHead;
  append_wrapped(out, "# ", units_sentence());
  for (const Section& section : sections()) {
    out += std::string{"\n\n["} + section.name + "]\n";
    append_wrapped(out, "# ", section.help);
    for (const Option& option : options()) {
      if (section_of(option.name) == section.name) append_sample(out, option);
    }
  }
  return out;
}

std::string reference_markdown() {
  std::string out = kMarkdownHead;
  append_wrapped(out, "", units_sentence());
  for (const Section& section : sections()) {
    out += std::string{"\n## `["} + section.name + "]`\n\n" + section.help + '\n';
    for (const Option& option : options()) {
      if (section_of(option.name) == section.name) append_markdown(out, option);
    }
  }
  return out;
}

}  // namespace torchtrace::config
