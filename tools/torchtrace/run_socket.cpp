#include "run_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace torchtrace::cli {

std::unique_ptr<RunSocket> RunSocket::create(const std::string& directory, std::string& error) {
  const std::string path = directory + "/announce";
  FileDescriptor fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  if (!fd.is_open() ||
      bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      chmod(path.c_str(), 0622) != 0 || chmod(directory.c_str(), 0711) != 0) {
    error = "cannot make the socket " + path + ": " + strerror(errno);
    return nullptr;
  }
  return std::unique_ptr<RunSocket>(new RunSocket(path, std::move(fd)));
}

RunSocket::~RunSocket() { unlink(path_.c_str()); }

std::vector<pid_t> RunSocket::take() const {
  std::vector<pid_t> pids;
  std::array<char, 32> text{};
  ssize_t count = 0;
  while ((count = recv(fd_.get(), text.data(), text.size() - 1, 0)) > 0) {
    text[static_cast<std::size_t>(count)] = '\0';
    const long pid = std::strtol(text.data(), nullptr, 10);
    if (pid > 0) pids.push_back(static_cast<pid_t>(pid));
  }
  return pids;
}

}  // namespace torchtrace::cli
