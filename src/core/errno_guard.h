#pragma once

#include <cerrno>

namespace torchtrace::core {

/// Keeps errno for its scope: what runs in a callback must not change it under the program's feet.
class ErrnoGuard {
 public:
  ErrnoGuard() noexcept : kept_(errno) {}
  ErrnoGuard(const ErrnoGuard&) = delete;
  ErrnoGuard& operator=(const ErrnoGuard&) = delete;
  ~ErrnoGuard() { errno = kept_; }

 private:
  int kept_;
};

}  // namespace torchtrace::core
