#include "config/toml_reader.h"

#include <algorithm>
#include <cfenv>
#include <cstddef>
#include <utility>

#include "config/ascii_text.h"
#include "config/key_dots.h"
#include "config/text.h"

// The one file that includes toml++ (header-only, MIT). It runs inside the traced program:
//  - no exceptions of its own, no assert that could end the program;
//  - numbers by <charconv>: the alternative is std::stringstream, which brings all of libstdc++'s
//    locales along, 1 MB and 0.17 ms at the start of every process.
//  - nothing but ASCII (ascii_text.h);
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

/// The source text of a value, or its first line.
std::string written_text(std::string_view text, const toml::source_region& region) {
  const std::string_view line = line_of(text, region.begin.line);
  // Columns count characters from 1; all are ASCII here.
  const std::size_t begin = std::min<std::size_t>(region.begin.column - 1, line.size());
  std::size_t end = line.size();
  if (region.end.line == region.begin.line) end = region.end.column - 1;
  return printable(decode_ascii(trim(line.substr(begin, end > begin ? end - begin : 0))));
}

RawValue raw_value(const toml::node& node) {
  RawValue raw;
  raw.kind = kind_of(node);
  if (const auto* string = node.as_string()) raw.text = decode_ascii(string->get());
  if (const auto* integer = node.as_integer()) raw.text = std::to_string(integer->get());
  if (const auto* boolean = node.as_boolean()) raw.text = boolean->get() ? "true" : "false";
  if (const auto* array = node.as_array()) {
    for (const toml::node& item : *array) raw.items.push_back(raw_value(item));
  }
  return raw;
}

/// Collects the settings of one file. `text` is encoded, as toml++ was given it.
class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : text_{text}, file_{file} {}

  void add_all(const toml::table& sections) {
    for (const auto& [section, node] : sections) {
      const std::string name = decode_ascii(section.str());
      add(name, section, node);
      const toml::table* keys = node.as_table();
      if (keys == nullptr) continue;
      for (const auto& [key, value] : *keys) add(name + '.' + decode_ascii(key.str()), key, value);
    }
  }

  std::vector<Setting> take_sorted() {
    const auto by_line = [](const Setting& a, const Setting& b) { return a.line < b.line; };
    std::stable_sort(settings_.begin(), settings_.end(), by_line);
    return std::move(settings_);
  }

 private:
  void add(const std::string& name, const toml::key& key, const toml::node& node) {
    const unsigned line = key.source().begin.line;
    RawValue value = raw_value(node);
    value.written = written_text(text_, node.source());
    settings_.push_back({file_ + ':' + std::to_string(line), line, name, std::move(value)});
  }

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

/// The column in the user's text, of a position in the encoded one.
std::size_t column_of(std::string_view line, std::size_t encoded_column) {
  std::size_t column = 1;
  for (const char c : decode_ascii(line.substr(0, encoded_column - 1))) {
    column += (static_cast<unsigned char>(c) & 0xC0U) == 0x80U ? 0U : 1U;
  }
  return column;
}

Problem syntax_error(const toml::parse_error& error, std::string_view text,
                     const std::string& file) {
  const toml::source_position at = error.source().begin;
  const std::string_view line = line_of(text, at.line);
  const std::string description = decode_ascii(error.description());
  return {file + ':' + std::to_string(at.line) + ": not valid TOML, column " +
          std::to_string(column_of(line, at.column)) + " of " + quoted(decode_ascii(trim(line))) +
          ": " + printable(description) + hint(description)};
}

}  // namespace

std::vector<Setting> read_toml(std::string_view text, const std::string& file,
                               std::vector<Problem>& problems) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    text.remove_prefix(kByteOrderMark.size());
  }
  if (count_key_dots(text) > kMaxKeyDots) {
    problems.push_back({file + ": more than " + std::to_string(kMaxKeyDots) +
                        " dots outside strings: no configuration nests keys so deeply"});
    return {};
  }
  const std::string encoded = encode_ascii(text);
  const toml::parse_result result = toml::parse(std::string_view{encoded});
  if (!result) {
    problems.push_back(syntax_error(result.error(), encoded, file));
    return {};
  }
  Reader reader{encoded, file};
  reader.add_all(result.table());
  return reader.take_sorted();
}

}  // namespace torchtrace::config
