#include "private_lttng_daemon.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <utility>

namespace torchtrace::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// A daemon's helpers need some ms to end. What the program leaves in the background may become our
/// child as well, and stay.
constexpr milliseconds kHelpersLimit = std::chrono::seconds(1);

}  // namespace

bool PrivateLttngDaemon::open(std::string& error) {
  pid_ = start_daemon(SIGTERM, error);
  return pid_ > 0;
}

void PrivateLttngDaemon::add_to(EnvironmentBlock& program) const {
  program.set("LTTNG_HOME", home());
}

/// Asked to end it takes up to 2 s; with its session removed it has nothing left to write. Its
/// consumer and its run-as helper end by themselves once it is gone; they become our children,
/// since not every container has a process 1 that waits for orphans.
void PrivateLttngDaemon::stop() {
  if (pid_ <= 0) return;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  kill(std::exchange(pid_, -1), SIGKILL);
  wait_for_all_children();
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

void PrivateLttngDaemon::wait_for_all_children() const {
  const auto deadline = steady_clock::now() + kHelpersLimit;
  pid_t pid = 0;
  while ((pid = waitpid(-1, nullptr, WNOHANG)) >= 0) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    if (pid == 0 && (left.count() <= 0 || signals().wait_for({SIGCHLD}, left) == 0)) return;
  }
}

}  // namespace torchtrace::cli
