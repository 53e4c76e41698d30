#include "lttng_daemon.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "file_descriptor.h"
#include "private_lttng_daemon.h"
#include "run_session_names.h"
#include "shared_lttng_daemon.h"
#include "spawn.h"

namespace torchtrace::cli {
namespace {

using std::chrono::milliseconds;

/// A daemon starts within 100 ms; a busy machine may need more.
constexpr milliseconds kStartLimit = std::chrono::seconds(10);

/// Does not take the status.
bool has_ended(pid_t child) {
  siginfo_t info = {};
  const auto id = static_cast<id_t>(child);
  return waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
}

}  // namespace

CommandResult LttngDaemon::lttng(std::vector<std::string> arguments, milliseconds limit) const {
  // Without --no-sessiond some commands would start a daemon that nobody ends.
  arguments.insert(arguments.begin(), {"lttng", "--no-sessiond"});
  return run_bounded(arguments, setup_.environment, setup_.signals, limit);
}

pid_t LttngDaemon::start_daemon(int signal_at_our_death, std::string& error) const {
  const std::string log = home() + "/sessiond.log";
  const FileDescriptor log_file(::open(log.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!log_file.is_open()) {
    error = "cannot create " + log + ": " + strerror(errno);
    return -1;
  }
  // No kernel tracing: it would load modules. --sig-parent: SIGUSR1 once it takes commands.
  const SpawnResult started = spawn({{"lttng-sessiond", "--no-kernel", "--sig-parent"},
                                     setup_.environment,
                                     setup_.signals,
                                     log_file.get(),
                                     true,
                                     signal_at_our_death});
  if (started.pid < 0) {
    error = std::string("lttng-sessiond cannot be started: ") + strerror(started.error);
    return -1;
  }
  if (is_ready(started.pid)) return started.pid;
  kill(started.pid, SIGKILL);
  waitpid(started.pid, nullptr, 0);
  setup_.signals.wait_for({SIGUSR1}, milliseconds(1));  // if it came after all
  const std::string reason = last_line(text_of(log_file.get()));
  error = "lttng-sessiond does not start: " + (reason.empty() ? "it does not answer" : reason);
  return -1;
}

bool LttngDaemon::is_ready(pid_t daemon) const {
  const auto deadline = std::chrono::steady_clock::now() + kStartLimit;
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    const int number = setup_.signals.wait_for({SIGUSR1, SIGCHLD}, left);
    if (number == SIGUSR1) return true;
    if (number == 0 || has_ended(daemon)) return false;
  }
}

std::unique_ptr<LttngDaemon> open_lttng_daemon(const EnvironmentBlock& environment,
                                               const SignalGuard& signals, std::string& error) {
  const CommandResult version =
      run_bounded({"lttng", "--version"}, environment, signals, kProbeLimit);
  if (version.start_error == ENOENT) {
    error = "LTTng is not installed (the commands lttng and lttng-sessiond; Debian: lttng-tools)";
    return nullptr;
  }
  std::unique_ptr<ScratchDirectory> home = ScratchDirectory::create(error);
  if (!home) return nullptr;
  LttngDaemon::Setup setup = {new_run_session_name(), version.output, std::move(home), environment,
                              signals};
  setup.environment.set("LTTNG_HOME", setup.home->path());
  std::unique_ptr<LttngDaemon> daemon;
  if (geteuid() == 0) {
    daemon = std::make_unique<SharedLttngDaemon>(std::move(setup));
  } else {
    daemon = std::make_unique<PrivateLttngDaemon>(std::move(setup));
  }
  if (!daemon->open(error)) return nullptr;
  return daemon;
}

}  // namespace torchtrace::cli
