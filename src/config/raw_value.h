#pragma once

#include <string>
#include <vector>

namespace torchtrace::config {

/// A value as it stands in a file or in the environment, before any option gives it a meaning.
struct RawValue {
  enum class Kind { kString, kInteger, kFloat, kBoolean, kDate, kArray, kTable };

  Kind kind = Kind::kString;
  std::string text;     ///< String: its content. Integer: its decimal digits. Boolean: its name.
  std::string written;  ///< As the user wrote it, fit to be shown; empty for items.
  std::vector<RawValue> items;  ///< Array only.
};

/// One value given for one name.
struct Setting {
  std::string where;  ///< "FILE:LINE", or the environment variable.
  unsigned line = 0;  ///< 0 for the environment.
  std::string name;   ///< "section.key"; without a dot: a section, or a key outside any.
  RawValue value;
};

}  // namespace torchtrace::config
