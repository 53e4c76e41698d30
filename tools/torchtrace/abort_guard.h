#pragma once

#include <csignal>
#include <string>

namespace torchtrace::cli {

/// While it lives, an abort() of this process ends it with one more line on stderr and
/// `kExitFailed` instead of a signal: libbabeltrace2 checks some of what it reads with assertions,
/// and so aborts on some kinds of damage in a trace.
/// Thread: one at a time.
class AbortGuard {
 public:
  /// `directory`: the trace that is read.
  explicit AbortGuard(const std::string& directory);
  ~AbortGuard();
  AbortGuard(const AbortGuard&) = delete;
  AbortGuard& operator=(const AbortGuard&) = delete;

 private:
  struct sigaction previous_ {};
};

}  // namespace torchtrace::cli
