#pragma once

#include <chrono>
#include <csignal>
#include <initializer_list>
#include <optional>

#include "file_descriptor.h"

namespace torchtrace::cli {

/// While it exists, the signals that a wrapper must handle itself are blocked and taken one by one
/// with `wait`: no handlers, hence nothing that must be async-signal-safe.
/// Thread: the process must be single-threaded.
class SignalGuard {
 public:
  SignalGuard();
  /// Restores mask and dispositions; a signal that is pending then has its usual effect.
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

  /// Throws away what is pending.
  void discard_pending() const;

  /// Waits for any of the blocked signals. No value: `fd` (-1: none) can be read.
  std::optional<siginfo_t> wait(int fd) const;

  /// Waits for one of `wanted`, all of which must be blocked here. Returns it, or 0: `limit` is
  /// over. SIGCHLD only means that some child may have changed, perhaps one that was waited for
  /// already.
  int wait_for(std::initializer_list<int> wanted, std::chrono::milliseconds limit) const;

  /// True if a signal is pending that asks us to end.
  bool is_asked_to_end() const;

  /// Called in a forked child before exec: the program starts with the mask and the dispositions
  /// that this process was started with (a program under nohup goes on ignoring SIGHUP).
  void restore() const;

 private:
  sigset_t blocked_;
  FileDescriptor pending_;  ///< A signalfd: readable while a blocked signal is pending.
  sigset_t original_mask_;
  struct sigaction original_child_action_;
};

}  // namespace torchtrace::cli
