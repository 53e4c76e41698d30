#include "signal_guard.h"

#include <poll.h>
#include <sys/signalfd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace torchtrace::cli {
namespace {

/// What a batch system, a shell or a terminal sends to make a job stop, go on, save or end; and
/// SIGCHLD.
constexpr int kHandledSignals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1,
                                   SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD};

template <typename Signals>
sigset_t set_of(const Signals& signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : signals) sigaddset(&set, number);
  return set;
}

timespec to_timespec(std::chrono::nanoseconds duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  return {static_cast<time_t>(seconds.count()), static_cast<long>((duration - seconds).count())};
}

}  // namespace

SignalGuard::SignalGuard()
    : blocked_(set_of(kHandledSignals)),
      pending_(signalfd(-1, &blocked_, SFD_CLOEXEC | SFD_NONBLOCK)),
      original_mask_(),
      original_child_action_() {
  if (!pending_.is_open()) throw std::system_error(errno, std::generic_category(), "signalfd");
  sigprocmask(SIG_BLOCK, &blocked_, &original_mask_);
  // Where a parent left SIGCHLD ignored, children would vanish without a status.
  struct sigaction wait_for_children = {};
  wait_for_children.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &wait_for_children, &original_child_action_);
}

SignalGuard::~SignalGuard() { restore(); }

void SignalGuard::discard_pending() const {
  const timespec no_time = {};
  while (sigtimedwait(&blocked_, nullptr, &no_time) > 0) {
  }
}

std::optional<siginfo_t> SignalGuard::wait(int fd) const {
  std::array<pollfd, 2> sources = {{{pending_.get(), POLLIN, 0}, {fd, POLLIN, 0}}};
  const timespec no_time = {};
  for (;;) {
    poll(sources.data(), sources.size(), -1);
    siginfo_t info;
    if (sigtimedwait(&blocked_, &info, &no_time) > 0) return info;
    if ((sources[1].revents & POLLIN) != 0) return std::nullopt;
  }
}

int SignalGuard::wait_for(std::initializer_list<int> wanted,
                          std::chrono::milliseconds limit) const {
  const sigset_t set = set_of(wanted);
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (;;) {
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left.count() <= 0) return 0;
    const timespec timeout = to_timespec(left);
    const int number = sigtimedwait(&set, nullptr, &timeout);
    if (number > 0) return number;
    if (errno == EAGAIN) return 0;  // else interrupted by a stop and continue
  }
}

bool SignalGuard::is_asked_to_end() const {
  sigset_t pending;
  sigpending(&pending);
  const auto is_pending = [&](int number) { return sigismember(&pending, number) == 1; };
  return is_pending(SIGHUP) || is_pending(SIGINT) || is_pending(SIGQUIT) || is_pending(SIGTERM);
}

void SignalGuard::restore() const {
  sigaction(SIGCHLD, &original_child_action_, nullptr);
  sigprocmask(SIG_SETMASK, &original_mask_, nullptr);
}

}  // namespace torchtrace::cli
