#pragma once

#include <signal.h>
#include <time.h>

#include <initializer_list>

namespace torchtrace::core {

/// A write of ours must not raise a signal that the program's own would not have raised: SIGPIPE
/// where nobody reads any more, SIGXFSZ where a file is at its limit. Both are blocked for this
/// object's scope, and one that was raised meanwhile is taken back.
/// Thread: any; both signals go to the thread that writes. Async-signal-safe.
class QuietWrite {
 public:
  QuietWrite() noexcept {
    sigset_t pending;
    sigpending(&pending);
    sigemptyset(&ours_);
    sigset_t blocked;
    sigemptyset(&blocked);
    for (const int signal : {SIGPIPE, SIGXFSZ}) {
      sigaddset(&blocked, signal);
      // One that was pending before is the program's.
      if (sigismember(&pending, signal) == 0) sigaddset(&ours_, signal);
    }
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  QuietWrite(const QuietWrite&) = delete;
  QuietWrite& operator=(const QuietWrite&) = delete;
  ~QuietWrite() {
    const timespec at_once{};
    while (sigtimedwait(&ours_, nullptr, &at_once) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t ours_{};
  sigset_t before_{};
};

}  // namespace torchtrace::core
