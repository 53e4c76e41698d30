#include "config/value.h"

#include <algorithm>
#include <climits>
#include <utility>
#include <vector>

#include "config/text.h"
#include "config/units.h"

namespace torchtrace::config {
namespace {

using Kind = RawValue::Kind;

// A trace's folder and file names are appended to output.directory.
constexpr std::size_t kMaxPathBytes = PATH_MAX - 512;

Dimension dimension_of(const Option& option) {
  return option.type == ValueType::kDuration ? Dimension::kTime : Dimension::kBytes;
}

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::kString:
      return "a string";
    case Kind::kInteger:
      return "an integer";
    case Kind::kFloat:
      return "a floating-point number";
    case Kind::kBoolean:
      return "a boolean";
    case Kind::kDate:
      return "a date or time";
    case Kind::kArray:
      return "a list";
    case Kind::kTable:
      return "a table";
  }
  return "unknown";
}

std::string wrong_type(const Option& option, Kind kind) {
  return std::string{kind_name(kind)} + ", expected " + describe_type(option);
}

std::string choice_names(const Option& option) {
  std::string names;
  for (const Choice& choice : option.choices) {
    if (!names.empty()) names += ", ";
    names += choice.name;
  }
  return names;
}

std::string next_powers_of_two(const Option& option, std::uint64_t number) {
  std::uint64_t below = option.minimum;
  while (below * 2 < number) below *= 2;
  const Dimension dimension = dimension_of(option);
  return format_quantity(below, dimension) + " and " + format_quantity(below * 2, dimension);
}

std::string check_bounds(const Option& option, std::uint64_t number) {
  const Dimension dimension = dimension_of(option);
  if (number < option.minimum) {
    return "below the minimum of " + format_quantity(option.minimum, dimension);
  }
  if (number > option.maximum) {
    return "above the maximum of " + format_quantity(option.maximum, dimension);
  }
  if (option.power_of_two && (number & (number - 1)) != 0) {
    return "not a power of two; the nearest are " + next_powers_of_two(option, number);
  }
  return {};
}

std::string parse_number(const Option& option, const RawValue& raw, Value& out) {
  const bool is_bare_size = raw.kind == Kind::kInteger && option.type == ValueType::kSize;
  const bool lacks_unit = raw.kind == Kind::kInteger && option.type == ValueType::kDuration;
  if (raw.kind != Kind::kString && !is_bare_size && !lacks_unit)
    return wrong_type(option, raw.kind);
  if (!raw.text.empty() && raw.text.front() == '-') {
    return "below the minimum of " + format_quantity(option.minimum, dimension_of(option));
  }
  const std::string wrong = parse_quantity(raw.text, dimension_of(option), out.number);
  return wrong.empty() ? check_bounds(option, out.number) : wrong;
}

std::string unknown_choice(const Option& option, std::string_view text) {
  std::vector<std::string_view> names;
  for (const Choice& choice : option.choices) names.emplace_back(choice.name);
  std::string wrong = "not one of " + choice_names(option);
  const std::string_view near = nearest(text, names);
  if (!near.empty()) wrong += "; did you mean \"" + std::string{near} + "\"?";
  return wrong;
}

std::string find_choice(const Option& option, const RawValue& raw, std::size_t& index) {
  if (raw.kind != Kind::kString) {
    return std::string{kind_name(raw.kind)} + ", expected one of " + choice_names(option);
  }
  for (index = 0; index < option.choices.size(); ++index) {
    if (raw.text == option.choices[index].name) return {};
  }
  return unknown_choice(option, raw.text);
}

std::string parse_choice(const Option& option, const RawValue& raw, Value& out) {
  std::size_t index = 0;
  std::string wrong = find_choice(option, raw, index);
  out.number = index;
  return wrong;
}

std::string parse_item(const Option& option, const RawValue& item, std::uint64_t& bits) {
  std::size_t index = 0;
  const std::string wrong = find_choice(option, item, index);
  const std::string shown = item.kind == Kind::kString ? quoted(item.text) : "an item";
  if (!wrong.empty()) return shown + " is " + wrong;
  const std::uint64_t bit = std::uint64_t{1} << index;
  if ((bits & bit) != 0) return shown + " is there twice";
  bits |= bit;
  return {};
}

std::string parse_choice_list(const Option& option, const RawValue& raw, Value& out) {
  if (raw.kind != Kind::kArray) return wrong_type(option, raw.kind);
  if (raw.items.empty()) return "an empty list, expected at least one of " + choice_names(option);
  out.number = 0;
  for (const RawValue& item : raw.items) {
    std::string wrong = parse_item(option, item, out.number);
    if (!wrong.empty()) return wrong;
  }
  return {};
}

std::string parse_path(const Option& option, const RawValue& raw, Value& out) {
  if (raw.kind != Kind::kString) return wrong_type(option, raw.kind);
  if (raw.text.find('\0') != std::string::npos) return "it holds a zero byte";
  if (raw.text.size() > kMaxPathBytes) {
    return "longer than " + std::to_string(kMaxPathBytes) + " bytes";
  }
  if (raw.text == "~" || raw.text.compare(0, 2, "~/") == 0) {
    return "a leading ~ is not expanded: write the whole path";
  }
  out.text = raw.text;
  return {};
}

std::string parse_boolean(const Option& option, const RawValue& raw, Value& out) {
  if (raw.kind != Kind::kBoolean) return wrong_type(option, raw.kind);
  if (raw.text != "true" && raw.text != "false") return "not true or false";
  out.number = raw.text == "true" ? 1 : 0;
  return {};
}

std::string check_pattern(const RawValue& item) {
  constexpr std::size_t kMaxPatternBytes = 1000;
  if (item.kind != Kind::kString) {
    return std::string{"an item is "} + kind_name(item.kind) + ", expected a pattern in quotes";
  }
  if (item.text.empty()) return "an item is empty, and fits no name";
  if (item.text.size() > kMaxPatternBytes) {
    return "an item is longer than " + std::to_string(kMaxPatternBytes) + " bytes";
  }
  return {};
}

std::string parse_pattern_list(const Option& option, const RawValue& raw, Value& out) {
  if (raw.kind != Kind::kArray) return wrong_type(option, raw.kind);
  out.list.clear();
  for (const RawValue& item : raw.items) {
    std::string wrong = check_pattern(item);
    if (!wrong.empty()) return wrong;
    out.list.push_back(item.text);
  }
  return {};
}

std::string parse_count(const Option& option, const RawValue& raw, Value& out) {
  if (raw.kind != Kind::kInteger) return wrong_type(option, raw.kind);
  std::uint64_t number = 0;
  for (const char c : raw.text) {
    if (c < '0' || c > '9') return "not " + describe_type(option);
    number = std::min(number * 10 + static_cast<std::uint64_t>(c - '0'), option.maximum + 1);
  }
  if (raw.text.empty()) return "not " + describe_type(option);
  if (number > option.maximum) return "above the maximum of " + std::to_string(option.maximum);
  out.number = number;
  return {};
}

/// A basic string of TOML.
std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\u00";
      out += kHex[byte >> 4U];
      out += kHex[byte & 0x0FU];
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// The names of the choices in a bit set, each between two `quote`s.
std::string join_choices(const Option& option, std::uint64_t bits, const char* quote,
                         const char* separator) {
  std::string out;
  for (std::size_t i = 0; i < option.choices.size(); ++i) {
    if (((bits >> i) & 1U) == 0) continue;
    if (!out.empty()) out += separator;
    out += std::string{quote} + option.choices[i].name + quote;
  }
  return out;
}

std::string join_patterns(const std::vector<std::string>& patterns, const char* separator) {
  std::string out;
  for (const std::string& pattern : patterns) {
    if (!out.empty()) out += separator;
    out += toml_string(pattern);
  }
  return out;
}

}  // namespace

std::string parse_value(const Option& option, const RawValue& raw, Value& out) {
  switch (option.type) {
    case ValueType::kSize:
    case ValueType::kDuration:
      return parse_number(option, raw, out);
    case ValueType::kChoice:
      return parse_choice(option, raw, out);
    case ValueType::kChoiceList:
      return parse_choice_list(option, raw, out);
    case ValueType::kPath:
      return parse_path(option, raw, out);
    case ValueType::kBoolean:
      return parse_boolean(option, raw, out);
    case ValueType::kPatternList:
      return parse_pattern_list(option, raw, out);
    case ValueType::kCount:
      return parse_count(option, raw, out);
  }
  return "the option table does not know its type";
}

RawValue raw_from_text(const Option& option, std::string_view text) {
  RawValue raw;
  raw.text = text;
  raw.written = quoted(text);
  if (option.type == ValueType::kBoolean) raw.kind = Kind::kBoolean;
  if (option.type == ValueType::kCount) raw.kind = Kind::kInteger;
  const bool is_pattern_list = option.type == ValueType::kPatternList;
  if (option.type != ValueType::kChoiceList && !is_pattern_list) return raw;
  raw.kind = Kind::kArray;
  if (is_pattern_list && trim(text).empty()) return raw;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    RawValue item;
    item.text = trim(text.substr(start, comma - start));
    raw.items.push_back(std::move(item));
    start = comma + 1;
  }
  return raw;
}

std::string toml_text(const Option& option, const Value& value) {
  switch (option.type) {
    case ValueType::kSize:
    case ValueType::kDuration:
      return '"' + format_quantity(value.number, dimension_of(option)) + '"';
    case ValueType::kChoice:
      return '"' + canonical_text(option, value) + '"';
    case ValueType::kChoiceList:
      return '[' + join_choices(option, value.number, "\"", ", ") + ']';
    case ValueType::kPath:
      return toml_string(value.text);
    case ValueType::kBoolean:
    case ValueType::kCount:
      return canonical_text(option, value);
    case ValueType::kPatternList:
      return '[' + join_patterns(value.list, ", ") + ']';
  }
  return {};
}

std::string canonical_text(const Option& option, const Value& value) {
  switch (option.type) {
    case ValueType::kSize:
    case ValueType::kDuration:
    case ValueType::kCount:
      return std::to_string(value.number);
    case ValueType::kChoice:
      return option.choices[value.number].name;
    case ValueType::kChoiceList:
      return join_choices(option, value.number, "", ",");
    case ValueType::kPath:
      return value.text;
    case ValueType::kBoolean:
      return value.number != 0 ? "true" : "false";
    case ValueType::kPatternList:
      return join_patterns(value.list, ",");
  }
  return {};
}

std::string describe_type(const Option& option) {
  switch (option.type) {
    case ValueType::kSize:
      return "a size such as \"4MiB\"";
    case ValueType::kDuration:
      return "a duration such as \"10ms\"";
    case ValueType::kChoice:
      return "one of " + choice_names(option);
    case ValueType::kChoiceList:
      return std::string{"a list such as [\""} + option.choices[0].name + "\"]";
    case ValueType::kPath:
      return "a path in quotes";
    case ValueType::kBoolean:
      return "true or false";
    case ValueType::kPatternList:
      return "a list of patterns such as [\"aten::*\"]";
    case ValueType::kCount:
      return "a whole number";
  }
  return {};
}

std::string describe_bounds(const Option& option) {
  if (option.type == ValueType::kCount) {
    return "from " + std::to_string(option.minimum) + " to " + std::to_string(option.maximum);
  }
  if (option.type != ValueType::kSize && option.type != ValueType::kDuration) return {};
  const Dimension dimension = dimension_of(option);
  std::string bounds = "from " + format_quantity(option.minimum, dimension) + " to " +
                       format_quantity(option.maximum, dimension);
  if (option.power_of_two) bounds += ", a power of two";
  return bounds;
}

}  // namespace torchtrace::config
