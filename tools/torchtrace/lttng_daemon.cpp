#include "lttng_daemon.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "file_descriptor.h"
#include "run_session_names.h"
#include "spawn.h"

namespace torchtrace::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A daemon starts within 100 ms; a busy machine may need more.
constexpr milliseconds kStartLimit = seconds(10);
/// One that runs answers within some ms; what has not answered by then is stopped or stuck.
constexpr milliseconds kProbeLimit = seconds(5);
/// It takes about a second, most of it for threads that poll.
constexpr milliseconds kStopLimit = seconds(5);

/// They take some ms. What the program leaves in the background may become our child as well, and
/// stay.
constexpr milliseconds kHelpersLimit = seconds(1);

/// Where root's daemon lives: DEFAULT_LTTNG_RUNDIR of lttng-tools. Used for our lock file only.
constexpr const char* kRootRunDirectory = "/var/run/lttng";

/// An ordinary user's: nobody else's, so it is simply ended.
class PrivateDaemon final : public LttngDaemon {
 public:
  explicit PrivateDaemon(Setup setup) : LttngDaemon(std::move(setup)) {}
  ~PrivateDaemon() override { PrivateDaemon::stop(); }

  bool start(std::string& error) {
    pid_ = start_daemon(SIGTERM, error);
    return pid_ > 0;
  }

  void add_to(EnvironmentBlock& program) const override { program.set("LTTNG_HOME", home()); }

  /// Asked to end it takes up to 2 s; with its session removed it has nothing left to write. Its
  /// consumer and its run-as helper end by themselves once it is gone; they become our children,
  /// since not every container has a process 1 that waits for orphans.
  void stop() override {
    if (pid_ <= 0) return;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    kill(std::exchange(pid_, -1), SIGKILL);
    wait_for_all_children();
    prctl(PR_SET_CHILD_SUBREAPER, 0);
  }

 private:
  void wait_for_all_children() const {
    const auto deadline = std::chrono::steady_clock::now() + kHelpersLimit;
    pid_t pid = 0;
    while ((pid = waitpid(-1, nullptr, WNOHANG)) >= 0) {
      const auto left =
          std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
      if (pid == 0 && (left.count() <= 0 || !signals().wait_for({SIGCHLD}, left))) return;
    }
  }

  pid_t pid_ = -1;
};

/// Root's: others may use it as well.
class SharedDaemon final : public LttngDaemon {
 public:
  explicit SharedDaemon(Setup setup) : LttngDaemon(std::move(setup)) {}
  ~SharedDaemon() override { SharedDaemon::stop(); }

  bool find_or_start(std::string& error) {
    if (!lock(error)) return false;
    const CommandResult probe = lttng({"list"}, kProbeLimit);
    if (probe.is_timed_out) {
      error =
          "root's session daemon does not answer (stopped, or stuck after a traced program was "
          "killed)";
      return false;
    }
    if (probe.is_ok()) return remove_stale_sessions(probe.output), true;
    started_ = start_daemon(0, error);
    return started_ > 0;
  }

  void add_to(EnvironmentBlock& /*program*/) const override {}

  void stop() override {
    if (started_ > 0 && !has_sessions()) stop_daemon(started_);
    started_ = -1;
    lock_.close();
  }

 private:
  /// Held until the end of the run: the one among root's runs that may record, and start or stop
  /// the daemon.
  bool lock(std::string& error) {
    mkdir(kRootRunDirectory, 0755);  // the first daemon would make it; if this fails, open says why
    const std::string path = std::string(kRootRunDirectory) + "/torchtrace-run.lock";
    lock_ = FileDescriptor(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock_.is_open()) {
      error = "cannot open " + path + ": " + strerror(errno);
      return false;
    }
    if (flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return true;
    error =
        "another `torchtrace run` of root's records with it, and both traces would hold both "
        "programs";
    return false;
  }

  /// A run that was killed leaves its session. We hold the lock: no run is alive.
  void remove_stale_sessions(const std::string& list) const {
    for (const std::string& name : run_sessions_in(list)) {
      lttng({"destroy", "--no-wait", name}, kProbeLimit);
    }
  }

  /// Also where the question is not answered: better a daemon too many than somebody's trace lost.
  bool has_sessions() const {
    const CommandResult list = lttng({"--mi=xml", "list"}, kProbeLimit);
    return !list.is_ok() || list.output.find("<session>") != std::string::npos;
  }

  pid_t started_ = -1;
  FileDescriptor lock_;
};

}  // namespace

CommandResult LttngDaemon::lttng(std::vector<std::string> arguments, milliseconds limit) const {
  // Without --no-sessiond some commands would start a daemon that nobody ends.
  arguments.insert(arguments.begin(), {"lttng", "--no-sessiond"});
  return run_bounded(arguments, setup_.environment, setup_.signals, limit);
}

pid_t LttngDaemon::start_daemon(int signal_at_our_death, std::string& error) const {
  const std::string log = home() + "/sessiond.log";
  const FileDescriptor log_file(open(log.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
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
  stop_daemon(started.pid);
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
    siginfo_t info = {};
    const bool has_ended =
        waitid(P_PID, static_cast<id_t>(daemon), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == daemon;
    if (number == 0 || has_ended) return false;
  }
}

void LttngDaemon::stop_daemon(pid_t pid) const {
  kill(pid, SIGTERM);
  const auto deadline = std::chrono::steady_clock::now() + kStopLimit;
  while (waitpid(pid, nullptr, WNOHANG) == 0) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() > 0 && setup_.signals.wait_for({SIGCHLD}, left)) continue;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return;
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
  LttngDaemon::Setup setup = {std::move(home), environment, signals, version.output};
  setup.environment.set("LTTNG_HOME", setup.home->path());
  if (geteuid() == 0) {
    auto daemon = std::make_unique<SharedDaemon>(std::move(setup));
    if (daemon->find_or_start(error)) return daemon;
  } else {
    auto daemon = std::make_unique<PrivateDaemon>(std::move(setup));
    if (daemon->start(error)) return daemon;
  }
  return nullptr;
}

}  // namespace torchtrace::cli
