#include "flush/session_daemon.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "core/process_stat.h"

namespace torchtrace::flush {

namespace {

constexpr char kSocketPrefix[] = "lttng-ust-sock-";

/// Who listens on this socket.
SessionDaemon find_listener(const char* path) noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t length = std::strlen(path);
  if (length >= sizeof(address.sun_path)) return {};
  std::memcpy(address.sun_path, path, length + 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return {};
  ucred peer{};
  socklen_t size = sizeof(peer);
  const bool answers =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
      getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  close(fd);
  if (!answers) return {};
  const char state = core::process_state(peer.pid);
  const bool is_stopped = state == 'T' || state == 't';
  return {is_stopped ? SessionDaemonState::kStopped : SessionDaemonState::kListens, peer.pid};
}

}  // namespace

SessionDaemon find_session_daemon(const std::string& folder) {
  DIR* entries = opendir(folder.c_str());
  if (entries == nullptr) return {};
  SessionDaemon found;
  while (const dirent* entry = readdir(entries)) {
    if (std::strncmp(entry->d_name, kSocketPrefix, sizeof(kSocketPrefix) - 1) != 0) continue;
    const SessionDaemon daemon = find_listener((folder + "/" + entry->d_name).c_str());
    if (daemon.state > found.state) found = daemon;
  }
  closedir(entries);
  return found;
}

bool session_daemon_answers(const std::string& lttng_home) {
  const auto listens = [](const std::string& folder) {
    return find_session_daemon(folder).state == SessionDaemonState::kListens;
  };
  return listens(kSystemDaemonFolder) || (!lttng_home.empty() && listens(lttng_home + "/.lttng"));
}

}  // namespace torchtrace::flush
