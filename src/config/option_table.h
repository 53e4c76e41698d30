#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace torchtrace::config {

enum class ValueType {
  kSize,
  kDuration,
  kChoice,
  kChoiceList,
  kPath,
  kPatternList,
  kBoolean,
  kCount
};

/// A value between its text and its member of `Config`.
struct Value {
  /// Size: bytes. Duration: ns. Count: itself. Choice: its index. List of choices: bit i stands for
  /// choice i. Boolean: 0 or 1.
  std::uint64_t number = 0;
  std::string text;               ///< Path only.
  std::vector<std::string> list;  ///< List of patterns only.
};

/// Elements of a constant array; what std::span is in C++20.
template <typename T>
struct Span {
  const T* first = nullptr;
  std::size_t count = 0;

  constexpr Span() = default;
  template <std::size_t length>
  // NOLINTNEXTLINE(google-explicit-constructor): an array stands for itself, as with std::span
  constexpr Span(const T (&array)[length]) : first{array}, count{length} {}
  constexpr const T* begin() const { return first; }
  constexpr const T* end() const { return first + count; }
  constexpr std::size_t size() const { return count; }
  constexpr const T& operator[](std::size_t index) const { return first[index]; }
};

/// One allowed value of an option; its index is the number of the enumerator it stands for.
struct Choice {
  const char* name;
  const char* help;  ///< Half a sentence, without a final stop.
};

struct Section {
  const char* name;
  const char* help;
};

/// One option: everything that the reader, the sample file, the documentation and the error
/// messages know about it.
struct Option {
  const char* name;  ///< "section.key"
  ValueType type;
  /// As the environment variable would give it (lists with commas); always valid.
  const char* default_text;
  std::uint64_t minimum;  ///< Size, duration and count only, in bytes or ns.
  std::uint64_t maximum;
  bool power_of_two;
  Span<Choice> choices;  ///< Choice and list of choices only.
  const char* help;      ///< One paragraph: what it does, what it costs, what can go wrong.
  void (*store)(Config&, const Value&);
  Value (*fetch)(const Config&);
};

/// All sections and options, in the order of the sample file. Constant data: usable at any time,
/// from any thread.
Span<Section> sections();
Span<Option> options();

/// nullptr where there is none of that name.
const Option* find_option(std::string_view name);
bool is_section(std::string_view name);

/// The two halves of "section.key"; for a name without a dot, all of it and nothing.
std::string_view section_of(std::string_view name);
std::string_view key_of(std::string_view name);

/// "output.hold" → "TORCHTRACE_OUTPUT_HOLD".
std::string environment_name(const Option& option);

}  // namespace torchtrace::config
