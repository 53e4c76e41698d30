#include "output_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace torchtrace::cli {
namespace {

namespace fs = std::filesystem;

std::string absolute(const std::string& name) {
  std::error_code error;
  const fs::path path = fs::absolute(name, error).lexically_normal();
  // "out/" would otherwise end in an empty name.
  return path.has_filename() ? path.string() : path.parent_path().string();
}

OutputDirectory failed(const std::string& path, int error) {
  return {{}, "cannot create the folder " + path + ": " + strerror(error)};
}

/// Makes `path` and those above it. Only what is made here is private: the trace may hold what the
/// program's command line says.
int make_directories(const fs::path& path) {
  if (path.has_relative_path() && !fs::exists(path.parent_path())) {
    if (const int error = make_directories(path.parent_path())) return error;
  }
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return 0;
  return errno;
}

/// `torchtrace-PID` below `base`, with a number after it if that is taken.
OutputDirectory make_numbered(const std::string& base) {
  const std::string first = base + "/torchtrace-" + std::to_string(getpid());
  std::string path = first;
  for (int number = 2; mkdir(path.c_str(), 0700) != 0; ++number) {
    if (errno != EEXIST) return failed(path, errno);
    path = first + '-' + std::to_string(number);
  }
  return {path, {}};
}

/// 0, or errno of what makes it unfit for traces.
int check_writable(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return errno;
  if (!S_ISDIR(status.st_mode)) return ENOTDIR;
  return access(path.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
}

bool is_empty(const std::string& path) {
  std::error_code error;
  return fs::is_empty(path, error) || error;
}

OutputDirectory make_or_use(const std::string& name) {
  const std::string path = absolute(name);
  std::error_code none;
  const bool was_there = fs::exists(path, none);
  if (const int error = make_directories(path)) return failed(path, error);
  if (const int error = check_writable(path)) {
    return {{}, "cannot write traces into " + path + ": " + strerror(error)};
  }
  return {path, {}, was_there};
}

}  // namespace

OutputDirectory make_named_directory(const std::string& name) {
  OutputDirectory directory = make_or_use(name);
  if (directory.path.empty() || is_empty(directory.path)) return directory;
  return {{}, directory.path + " is not empty; name a new folder, or remove it"};
}

OutputDirectory make_configured_directory(const std::string& name) {
  OutputDirectory directory = make_or_use(name);
  if (directory.path.empty() || is_empty(directory.path)) return directory;
  return make_numbered(directory.path);
}

OutputDirectory make_default_directory() {
  std::error_code error;
  const std::string here = fs::current_path(error);
  OutputDirectory directory = make_numbered(here);
  if (!directory.path.empty()) return directory;
  const char* variable = std::getenv("TMPDIR");
  const bool has_variable = variable != nullptr && *variable == '/';
  OutputDirectory elsewhere = make_numbered(has_variable ? variable : "/tmp");
  if (!elsewhere.path.empty()) elsewhere.error = directory.error + "; using " + elsewhere.path;
  return elsewhere;
}

bool holds_trace(const std::string& directory) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    // CTF 1.8: a trace is a folder with a file of this name; LTTng makes it with the first program.
    if (entry->path().filename() == "metadata") return true;
  }
  return false;
}

void remove_if_empty(const std::string& directory) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!entry->is_directory(error)) return;
  }
  fs::remove_all(directory, error);
}

}  // namespace torchtrace::cli
