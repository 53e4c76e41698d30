#pragma once

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "config/load.h"
#include "config/option_table.h"
#include "config/value.h"

namespace torchtrace::config::test {

/// A file of its own name below the temporary folder, removed at the end.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) {
    const char* folder = std::getenv("TMPDIR");
    path_ = std::string{folder == nullptr ? "/tmp" : folder} + "/torchtrace_config_XXXXXX";
    const int descriptor = mkstemp(path_.data());
    if (descriptor >= 0) close(descriptor);
    std::ofstream{path_, std::ios::binary} << text;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { unlink(path_.c_str()); }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

using Environment = std::map<std::string, std::string>;

inline GetEnv reader_of(const Environment& environment) {
  return [&environment](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  };
}

inline LoadResult load_environment(const Environment& environment) {
  return load(reader_of(environment), nullptr);
}

inline LoadResult load_text(const std::string& text) {
  const TemporaryFile file{text};
  return load_file(file.path());
}

/// A file with one key.
inline std::string one_key(const std::string& name, const std::string& toml) {
  return '[' + std::string{section_of(name)} + "]\n" + std::string{key_of(name)} + " = " + toml +
         '\n';
}

/// The option's value as canonical text.
inline std::string value_of(const Config& config, const std::string& name) {
  const Option& option = *find_option(name);
  return canonical_text(option, option.fetch(config));
}

inline std::string all_problems(const LoadResult& result) {
  std::string text;
  for (const Problem& problem : result.problems) text += problem.text + '\n';
  return text;
}

inline std::string read_text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream{path, std::ios::binary}.rdbuf();
  return text.str();
}

}  // namespace torchtrace::config::test
