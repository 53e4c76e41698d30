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

}  // namespace torchtrace::core
