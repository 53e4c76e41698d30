#include "core/process_stat.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace torchtrace::core {

namespace {

struct StatLine {
  char text[1024];

  /// Where field 3 begins; nullptr if there is no such process. Field 2 is the command in
  /// parentheses and may hold blanks and parentheses itself.
  const char* read_from(pid_t pid) noexcept {
    char path[32];
    std::snprintf(path, sizeof(path), "/proc/%d/stat", static_cast<int>(pid));
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return nullptr;
    const ssize_t length = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    const char* end_of_command = std::strrchr(text, ')');
    return end_of_command == nullptr || end_of_command[1] == '\0' ? nullptr : end_of_command + 2;
  }
};

}  // namespace

std::uint64_t process_start_time(pid_t pid) noexcept {
  StatLine line;
  const char* at = line.read_from(pid);
  for (int field = 3; at != nullptr && field < 22; ++field) {
    at = std::strchr(at, ' ');
    if (at != nullptr) ++at;
  }
  return at == nullptr ? 0 : std::strtoull(at, nullptr, 10);
}

char process_state(pid_t pid) noexcept {
  StatLine line;
  const char* at = line.read_from(pid);
  return at == nullptr ? '?' : *at;
}

}  // namespace torchtrace::core
