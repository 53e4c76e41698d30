#include "flush/process_info.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

namespace torchtrace::flush {

std::string ProcessInfo::trace_name() const {
  std::string name = host + "-" + std::to_string(pid) + "-" + std::to_string(start_time);
  // A host name has no slash, but nothing stops an administrator.
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

std::string host_name() {
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0 || name[0] == '\0') return "unknown";
  return name;
}

std::string command_line() {
  const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "unknown";
  char text[kMaxCommandBytes];
  ssize_t length = read(fd, text, sizeof(text));
  close(fd);
  while (length > 0 && text[length - 1] == '\0') --length;
  if (length <= 0) return "unknown";
  std::replace(text, text + length, '\0', ' ');
  return {text, static_cast<std::size_t>(length)};
}

}  // namespace torchtrace::flush
