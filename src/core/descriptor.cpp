#include "core/descriptor.h"

#include <fcntl.h>
#include <unistd.h>

namespace torchtrace::core {

int move_descriptor(int fd) noexcept {
  constexpr int kPreferred = 700;
  int moved = fcntl(fd, F_DUPFD_CLOEXEC, kPreferred);
  if (moved < 0) moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (moved < 0) return fd;
  close(fd);
  return moved;
}

bool has_standard_streams() noexcept {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) return false;
  }
  return true;
}

}  // namespace torchtrace::core
