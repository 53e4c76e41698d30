#include "flush/output_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace torchtrace::flush {

namespace {

std::string& temporary_directory() {
  static auto* const kDirectory = new std::string("/tmp");
  return *kDirectory;
}

/// mkdir -p; true if a folder that we may write into stands there.
bool make_path(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    if (mkdir(path.substr(0, slash).c_str(), 0700) != 0 && errno != EEXIST && errno != EROFS) {
      return false;
    }
  }
  if (mkdir(path.c_str(), 0700) == 0) return true;
  if (errno != EEXIST) return false;
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return false;
  if (!S_ISDIR(info.st_mode)) {
    errno = ENOTDIR;
    return false;
  }
  return access(path.c_str(), W_OK | X_OK) == 0;
}

}  // namespace

void set_temporary_directory(std::string directory) {
  temporary_directory() = std::move(directory);
}

bool make_output_directory(const std::string& wanted, std::string& made, std::string& note) {
  if (make_path(wanted)) {
    made = wanted;
    return true;
  }
  const std::string reason = wanted + ": " + std::strerror(errno);
  made = temporary_directory() + "/" + wanted.substr(wanted.rfind('/') + 1);
  if (made != wanted && make_path(made)) {
    note = "cannot write to output.directory " + reason + "; the trace goes to " + made;
    return true;
  }
  note = "cannot write to output.directory " + reason;
  return false;
}

}  // namespace torchtrace::flush
