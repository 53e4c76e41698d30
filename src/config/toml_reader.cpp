#include "config/toml_reader.h"

#include <algorithm>
#include <cfenv>
#include <cstddef>
#include <utility>

#include "config/key_dots.h"
#include "config/text.h"

// The one file that includes toml++ (header-only, MIT). It runs inside the traced program:
//  - no exceptions of its own, no assert that could end the program;
//  - numbers by <charconv>: the alternative is std::stringstream, which brings all of libstdc++'s
//    locales along, 1 MB and 0.17 ms at the start of every process.
//  - little stack, since threads of the host may have little: values nest no deeper than 16, and
//    keys with many dots are refused before (kMaxKeyDots).
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 16
#define TOML_INT_CHARCONV 1
#define TOML_FLOAT_CHARCONV 1
#define TOML_ASSERT(expression) static_assert(true)
#include <toml++/toml.h>

// libstdc++'s from_chars for `long double`, which nothing here calls, sets the rounding mode around
// strtold. It lies in the same object as the one for `double`, and these two functions would be all
// that the agent needs of libm (0.06 ms at each start). Hidden, so nobody else's calls come here;
// by another name, since <cfenv> has declared theirs visible.
extern "C" {
__attribute__((visibility("hidden"))) int torchtrace_fegetround() noexcept __asm__("fegetround");
__attribute__((visibility("hidden"))) int torchtrace_fesetround(int) noexcept __asm__("fesetround");
int torchtrace_fegetround() noexcept { return FE_TONEAREST; }
int torchtrace_fesetround(int mode) noexcept { return mode == FE_TONEAREST ? 0 : -1; }
}

namespace torchtrace::config {
namespace {

using Kind = RawValue::Kind;

// toml++ 3.3 nests a table for each dot of a key, without limit, and then recurses over them: 30000
// dots overflow the stack. A file that writes all its options as "section.key" has some dozens.
constexpr std::size_t kMaxKeyDots = 256;

Kind kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::string:
      return Kind::kString;
    case toml::node_type::integer:
      return Kind::kInteger;
    case toml::node_type::floating_point:
      return Kind::kFloat;
    case toml::node_type::boolean:
      return Kind::kBoolean;
    case toml::node_type::array:
      return Kind::kArray;
    case toml::node_type::table:
      return Kind::kTable;
    default:
      return Kind::kDate;
  }
}

std::string_view line_of(std::string_view text, std::size_t number) {
  for (std::size_t line = 1; line < number; ++line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

/// toml++ counts columns in characters, from 1.
std::size_t byte_of_column(std::string_view line, std::size_t column) {
  std::size_t byte = 0;
  for (std::size_t at = 1; at < column && byte < line.size(); ++at) {
    ++byte;
    while (byte < line.size() && (static_cast<unsigned char>(line[byte]) & 0xC0U) == 0x80U) ++byte;
  }
  return byte;
}

/// The source text of a value, or its first line.
std::string written_text(std::string_view text, const toml::source_region& region) {
  const std::string_view line = line_of(text, region.begin.line);
  const std::size_t begin = byte_of_column(line, region.begin.column);
  std::size_t end = line.size();
  if (region.end.line == region.begin.line) end = byte_of_column(line, region.end.column);
  return printable(trim(line.substr(begin, end > begin ? end - begin : 0)));
}

RawValue raw_value(const toml::node& node) {
  RawValue raw;
  raw.kind = kind_of(node);
  if (const auto* string = node.as_string()) raw.text = string->get();
  if (const auto* integer = node.as_integer()) raw.text = std::to_string(integer->get());
  if (const auto* array = node.as_array()) {
    for (const toml::node& item : *array) raw.items.push_back(raw_value(item));
  }
  return raw;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : text_{text}, file_{file} {}

  void add(const std::string& name, const toml::key& key, const toml::node& node) {
    const unsigned line = key.source().begin.line;
    RawValue value = raw_value(node);
    value.written = written_text(text_, node.source());
    settings_.push_back({file_ + ':' + std::to_string(line), line, name, std::move(value)});
  }

  std::vector<Setting> take_sorted() {
    const auto by_line = [](const Setting& a, const Setting& b) { return a.line < b.line; };
    std::stable_sort(settings_.begin(), settings_.end(), by_line);
    return std::move(settings_);
  }

 private:
  std::string_view text_;
  const std::string& file_;
  std::vector<Setting> settings_;
};

/// What the two mistakes that everybody makes look like to toml++, and what to do about them.
std::string hint(std::string_view description) {
  const auto says = [&](std::string_view part) {
    return description.find(part) != std::string_view::npos;
  };
  if (says("could not determine value type")) return "; strings are written in double quotes";
  if (says("cannot redefine")) return "; it is given twice";
  return {};
}

Problem syntax_error(const toml::parse_error& error, std::string_view text,
                     const std::string& file) {
  const toml::source_position at = error.source().begin;
  const std::string_view description = error.description();
  return {file + ':' + std::to_string(at.line) + ": not valid TOML, column " +
          std::to_string(at.column) + " of " + quoted(trim(line_of(text, at.line))) + ": " +
          printable(description) + hint(description)};
}

}  // namespace

std::vector<Setting> read_toml(std::string_view text, const std::string& file,
                               std::vector<Problem>& problems) {
  if (count_key_dots(text) > kMaxKeyDots) {
    problems.push_back({file + ": more than " + std::to_string(kMaxKeyDots) +
                        " dots outside strings: no configuration nests keys so deeply"});
    return {};
  }
  const toml::parse_result result = toml::parse(text);
  if (!result) {
    problems.push_back(syntax_error(result.error(), text, file));
    return {};
  }
  Reader reader{text, file};
  for (const auto& [section, node] : result.table()) {
    const std::string name{section.str()};
    reader.add(name, section, node);
    const toml::table* keys = node.as_table();
    if (keys == nullptr) continue;
    for (const auto& [key, value] : *keys) {
      reader.add(name + '.' + std::string{key.str()}, key, value);
    }
  }
  return reader.take_sorted();
}

}  // namespace torchtrace::config
