#include "core/process_stat.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
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

namespace {

/// Name of one thread of this process; empty if it is gone.
struct ThreadName {
  char text[32] = {};

  explicit ThreadName(int tid) noexcept {
    char path[64];
    std::snprintf(path, sizeof(path), "/proc/self/task/%d/comm", tid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    const ssize_t length = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[length > 0 ? length - 1 : 0] = '\0';  // without the newline
  }

  bool is_lttng() const noexcept {
    const std::size_t length = std::strlen(text);
    return length >= 4 && std::strcmp(text + length - 4, "-ust") == 0;
  }
};

}  // namespace

bool only_helpers_are_left() noexcept {
  if (process_state(getpid()) != 'Z') return false;
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return false;
  const auto own = static_cast<int>(syscall(SYS_gettid));
  bool has_others = false;
  for (const dirent* task = readdir(tasks); task != nullptr; task = readdir(tasks)) {
    const int tid = std::atoi(task->d_name);  // NOLINT(cert-err34-c): 0 for "." and ".."
    if (tid == 0 || tid == own || tid == getpid()) continue;
    if (!ThreadName(tid).is_lttng()) has_others = true;
  }
  closedir(tasks);
  return !has_others;
}

char process_state(pid_t pid) noexcept {
  StatLine line;
  const char* at = line.read_from(pid);
  return at == nullptr ? '?' : *at;
}

}  // namespace torchtrace::core
