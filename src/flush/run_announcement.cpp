#include "flush/run_announcement.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>

namespace torchtrace::flush {

bool announce_to_run(const std::string& socket) noexcept {
  sockaddr_un address = {};
  if (socket.empty() || socket.size() >= sizeof(address.sun_path)) return false;
  address.sun_family = AF_UNIX;
  socket.copy(address.sun_path, socket.size());
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  char pid[16];
  const int length = std::snprintf(pid, sizeof(pid), "%d", static_cast<int>(getpid()));
  const ssize_t sent =
      sendto(fd, pid, static_cast<std::size_t>(length), MSG_DONTWAIT | MSG_NOSIGNAL,
             reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  close(fd);
  return sent == length;
}

}  // namespace torchtrace::flush
