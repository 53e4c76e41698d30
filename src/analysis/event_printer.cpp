#include "analysis/event_printer.h"

#include <array>
#include <charconv>
#include <cstring>
#include <ostream>
#include <string_view>

#include "analysis/trace_error.h"
#include "core/record.h"

namespace torchtrace::analysis {
namespace {

constexpr std::size_t kIntegerChars = 24;

template <typename Integer>
void append_integer(std::string& line, Integer value) {
  std::array<char, kIntegerChars> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  line.append(text.data(), end);
}

void append_escaped(std::string& line, unsigned char c) {
  static constexpr char kDigits[] = "0123456789abcdef";
  if (c == '"' || c == '\\') {
    line += {'\\', static_cast<char>(c)};
  } else if (c < 0x20 || c == 0x7f) {
    line += {'\\', 'x', kDigits[c >> 4U], kDigits[c & 15U]};
  } else {
    line += static_cast<char>(c);
  }
}

void append_quoted(std::string& line, const char* text) {
  line += '"';
  for (; *text != '\0'; ++text) {
    append_escaped(line, static_cast<unsigned char>(*text));
  }
  line += '"';
}

/// `names[value]`, or the number where it has no name.
template <std::size_t N>
void append_named(std::string& line, const std::array<const char*, N>& names, unsigned value) {
  value < N ? void(line += names[value]) : append_integer(line, value);
}

void append_scope(std::string& line, unsigned scope) {
  static constexpr std::array<const char*, core::kScopeCount> kNames = {
      "function",          "backward_function",   "torchscript_function", "kernel_function_dtype",
      "custom_class",      "build_feature",       "lite_interpreter",     "user_scope",
      "static_runtime_op", "static_runtime_model"};
  append_named(line, kNames, scope);
}

void append_outcome(std::string& line, unsigned outcome) {
  static constexpr std::array<const char*, 4> kNames = {"ended", "dropped", "filtered",
                                                        "abandoned"};
  append_named(line, kNames, outcome);
}

void append_flags(std::string& line, unsigned flags) {
  static constexpr std::array<const char*, 7> kNames = {
      "async", "abandoned", "detached", "late", "repeated", "filtered", "clock_stepped"};
  const std::size_t before = line.size();
  for (unsigned bit = 0; flags >> bit != 0; ++bit) {
    if ((flags >> bit & 1U) != 0) {
      line += line.size() == before ? "" : ",";
      append_named(line, kNames, bit);
    }
  }
  line += line.size() == before ? "none" : "";
}

void append_value(std::string& line, std::string_view /*key*/, const char* value) {
  append_quoted(line, value);
}

void append_value(std::string& line, std::string_view key, std::uint8_t value) {
  if (key == "flags") {
    append_flags(line, value);
  } else if (key == "scope") {
    append_scope(line, value);
  } else if (key == "outcome") {
    append_outcome(line, value);
  } else {
    append_integer(line, static_cast<unsigned>(value));
  }
}

template <typename Integer>
void append_value(std::string& line, std::string_view /*key*/, Integer value) {
  append_integer(line, value);
}

}  // namespace

#define TORCHTRACE_PRINT_FIELD(kind, name) \
  line_ += " " #name "=";                  \
  append_value(line_, #name, event.name);
#define TORCHTRACE_PRINT_EVENT(NAME, name)                                                   \
  void EventPrinter::on_##name(const TraceInfo& /*trace*/, const torchtrace_##name& event) { \
    line_ = #name;                                                                           \
    TORCHTRACE_FIELDS_##NAME(TORCHTRACE_PRINT_FIELD) write_line();                           \
  }
TORCHTRACE_EVENTS(TORCHTRACE_PRINT_EVENT)

void EventPrinter::write_line() {
  line_ += '\n';
  if (!out_.write(line_.data(), static_cast<std::streamsize>(line_.size()))) {
    throw TraceError("cannot write the events: is the disk full?");
  }
}

}  // namespace torchtrace::analysis
