#include "bounded_command.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "file_descriptor.h"
#include "spawn.h"

namespace torchtrace::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// How often a pending signal is looked for: it must not be taken, so it cannot be waited for.
constexpr milliseconds kInterruptPeriod(100);

/// False: it still runs at the deadline, or when we are asked to end.
bool wait_until(pid_t pid, steady_clock::time_point deadline, const SignalGuard& signals,
                OnInterrupt on_interrupt, int& status) {
  const bool is_interruptible = on_interrupt == OnInterrupt::kStop;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0 || (is_interruptible && signals.is_asked_to_end())) {
      return waitpid(pid, &status, WNOHANG) != 0;
    }
    signals.wait_for({SIGCHLD}, is_interruptible ? std::min(left, kInterruptPeriod) : left);
  }
  return true;
}

}  // namespace

std::string text_of(int fd) {
  std::string text;
  char part[4096];
  ssize_t count = 0;
  while ((count = pread(fd, part, sizeof(part), static_cast<off_t>(text.size()))) > 0) {
    text.append(part, static_cast<std::size_t>(count));
  }
  return text;
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of("\n ");
  if (end == std::string::npos) return {};
  const std::size_t before = text.find_last_of('\n', end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, end - begin + 1);
}

std::string CommandResult::reason() const {
  if (start_error != 0) return strerror(start_error);
  if (is_timed_out) return "it did not answer in time";
  const std::string line = last_line(output);
  return line.empty() ? "it failed without a message" : line;
}

CommandResult run_bounded(const std::vector<std::string>& words,
                          const EnvironmentBlock& environment, const SignalGuard& signals,
                          milliseconds limit, OnInterrupt on_interrupt) {
  CommandResult result;
  // Not a pipe: a daemon that the command leaves behind may keep it open, and nothing needs to be
  // read before the command has ended.
  const FileDescriptor output(memfd_create("torchtrace-command", MFD_CLOEXEC));
  if (!output.is_open()) {
    result.start_error = errno;
    return result;
  }
  const auto deadline = steady_clock::now() + limit;
  const SpawnResult started = spawn({words, environment, signals, output.get(), true});
  if (started.pid < 0) {
    result.start_error = started.error;
    return result;
  }
  if (!wait_until(started.pid, deadline, signals, on_interrupt, result.wait_status)) {
    result.is_timed_out = true;
    kill(-started.pid, SIGKILL);
    waitpid(started.pid, &result.wait_status, 0);
  }
  result.output = text_of(output.get());
  return result;
}

}  // namespace torchtrace::cli
