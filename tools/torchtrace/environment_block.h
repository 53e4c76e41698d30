#pragma once

#include <string>
#include <vector>

namespace torchtrace::cli {

/// The environment of a program to be started: a copy that can be changed without touching this
/// process's own.
class EnvironmentBlock {
 public:
  /// Copies `block`, which ends with nullptr as `environ` does.
  explicit EnvironmentBlock(const char* const* block);

  /// The variable's value, valid until the next `set`; nullptr if it is not set.
  const char* get(const std::string& name) const;
  void set(const std::string& name, const std::string& value);

  /// As execve wants it; valid until the next `set` and as long as this object.
  std::vector<char*> pointers() const;

 private:
  std::vector<std::string> entries_;  ///< NAME=VALUE
};

}  // namespace torchtrace::cli
