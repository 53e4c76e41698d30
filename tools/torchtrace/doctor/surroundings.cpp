#include "doctor/surroundings.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace torchtrace::cli {
namespace {

/// It takes some ms; a busy machine may need more.
constexpr std::chrono::seconds kPreloadLimit(5);

bool is_program(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string try_preload(const Surroundings& surroundings, const std::string& preload) {
  EnvironmentBlock environment = surroundings.environment;
  environment.set("LD_PRELOAD", preload);
  const CommandResult result =
      run_bounded({"true"}, environment, surroundings.signals, kPreloadLimit, OnInterrupt::kStop);
  return result.is_ok() ? last_line(result.output) : result.reason();
}

std::string find_program(const Surroundings& surroundings, const std::string& name) {
  if (name.find('/') != std::string::npos) return is_program(name) ? name : "";
  const std::string folders = surroundings.variable("PATH");
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    // An empty entry is the working directory. Source: environ(7), PATH.
    std::string path = end == begin ? "." : folders.substr(begin, end - begin);
    path.append("/").append(name);
    if (is_program(path)) return path;
    begin = end + 1;
  }
  return {};
}

}  // namespace torchtrace::cli
