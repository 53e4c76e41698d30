#include "flush/ctf/trace_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "flush/ctf/disk_budget.h"
#include "flush/ctf/stream_file.h"

namespace torchtrace::flush {
namespace {

/// Readers skip hidden files.
constexpr const char* kUnfinishedName = "/.metadata";

/// Writes `text` to a new file and gives it its name when it is whole. Returns 0 or errno.
int write_metadata(const std::string& folder, const std::string& text) {
  const std::string unfinished = folder + kUnfinishedName;
  StreamFile file;
  int error = file.create(unfinished);
  if (error != 0) return error;
  error = file.write_text(text.data(), text.size());
  file.close();
  if (error == 0 && ::rename(unfinished.c_str(), (folder + "/" + kMetadataName).c_str()) != 0) {
    error = errno;
  }
  if (error != 0) ::unlink(unfinished.c_str());
  return error;
}

}  // namespace

std::string error_text(int error) {
  char buffer[128];
  return ::strerror_r(error, buffer, sizeof buffer);
}

bool create_trace_folder(const std::string& path, const std::string& metadata, std::string& error) {
  if (::mkdir(path.c_str(), 0700) != 0) {
    error = errno == EEXIST
                ? "cannot begin a trace in " + path + ": it exists already; remove or rename it"
                : "cannot create the trace folder " + path + ": " + error_text(errno);
    return false;
  }
  // A umask can take away even our own access.
  const int mode_error = ::chmod(path.c_str(), 0700) == 0 ? 0 : errno;
  const int write_error = mode_error == 0 ? write_metadata(path, metadata) : mode_error;
  if (write_error == 0) return true;
  ::rmdir(path.c_str());
  error = "cannot write " + path + "/" + kMetadataName + ": " + error_text(write_error);
  return false;
}

void remove_trace_folder(const std::string& path) noexcept {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  ::unlinkat(folder, kReserveName, 0);
  ::unlinkat(folder, kMetadataName, 0);
  ::close(folder);
  ::rmdir(path.c_str());
}

}  // namespace torchtrace::flush
