#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace torchtrace::recovery {

/// A descriptor, closed at the end of its scope.
class OpenFile {
 public:
  explicit OpenFile(int fd = -1) noexcept : fd_(fd) {}
  OpenFile(OpenFile&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  OpenFile& operator=(OpenFile&& other) noexcept {
    const int mine = fd_;
    fd_ = other.fd_;
    other.fd_ = mine;
    return *this;
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }

  bool is_open() const noexcept { return fd_ >= 0; }
  int fd() const noexcept { return fd_; }

  /// Reads `bytes` at `offset`; returns how many there were.
  std::size_t read(std::uint64_t offset, void* to, std::size_t bytes) const noexcept {
    std::size_t done = 0;
    while (done < bytes) {
      const ssize_t got = ::pread(fd_, static_cast<char*>(to) + done, bytes - done,
                                  static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

 private:
  int fd_;
};

}  // namespace torchtrace::recovery
