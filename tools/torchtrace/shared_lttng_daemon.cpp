#include "shared_lttng_daemon.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "run_session_names.h"

namespace torchtrace::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Where root's daemon lives: DEFAULT_LTTNG_RUNDIR of lttng-tools. Only our own files are looked
/// for here; an LTTng that was built for another place works as well.
constexpr const char* kRunDirectory = "/var/run/lttng";

/// Another run holds the lock while it starts the daemon and a session, or stops it.
constexpr milliseconds kLockLimit = std::chrono::seconds(20);
/// It takes up to 2 s, most of it for threads that poll.
constexpr milliseconds kStopLimit = std::chrono::seconds(5);
constexpr milliseconds kPollInterval{10};

std::string path_of(const std::string& name) {
  return std::string(kRunDirectory) + '/' + name + ".lock";
}

FileDescriptor open_lock(const std::string& name, int more_flags) {
  return FileDescriptor(
      open(path_of(name).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | more_flags, 0600));
}

bool try_lock(const FileDescriptor& file) { return flock(file.get(), LOCK_EX | LOCK_NB) == 0; }

/// The file, locked; closed if that was not to be had.
FileDescriptor lock_daemon(std::string& error) {
  mkdir(kRunDirectory, 0755);  // else the first daemon makes it; if it fails, open says why
  FileDescriptor file = open_lock("torchtrace-run", O_CREAT);
  if (!file.is_open()) {
    error = "cannot open " + path_of("torchtrace-run") + ": " + strerror(errno);
    return file;
  }
  const auto deadline = steady_clock::now() + kLockLimit;
  while (!try_lock(file)) {
    if (steady_clock::now() > deadline) {
      error = "another `torchtrace run` does not give its daemon free (" +
              path_of("torchtrace-run") + ")";
      return {};
    }
    std::this_thread::sleep_for(kPollInterval);
  }
  return file;
}

pid_t read_pid(const FileDescriptor& file) {
  std::array<char, 32> text{};
  return pread(file.get(), text.data(), text.size() - 1, 0) > 0
             ? static_cast<pid_t>(std::strtol(text.data(), nullptr, 10))
             : -1;
}

/// Errors: none is told; the daemon would only stay after the last run.
void write_pid(const FileDescriptor& file, pid_t pid) {
  const std::string text = std::to_string(pid);
  if (ftruncate(file.get(), 0) == 0) {
    [[maybe_unused]] const ssize_t count = pwrite(file.get(), text.data(), text.size(), 0);
  }
}

/// True if the process runs lttng-sessiond and has not ended; a zombie has no command line.
bool is_daemon(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/cmdline";
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return pid > 0 && file.is_open() &&
         text_of(file.get()).find("lttng-sessiond") != std::string::npos;
}

void stop_daemon(pid_t pid) {
  kill(pid, SIGTERM);
  const auto deadline = steady_clock::now() + kStopLimit;
  while (is_daemon(pid) && steady_clock::now() < deadline) {
    std::this_thread::sleep_for(kPollInterval);
  }
  waitpid(pid, nullptr, WNOHANG);  // where it was this run that started it
}

}  // namespace

bool SharedLttngDaemon::open(std::string& error) {
  lock_ = lock_daemon(error);
  return lock_.is_open() && mark_as_living(error) && find_or_start(error);
}

bool SharedLttngDaemon::mark_as_living(std::string& error) {
  living_ = open_lock(run_name(), O_CREAT | O_EXCL);
  if (living_.is_open() && try_lock(living_)) return true;
  error = "cannot lock " + path_of(run_name()) + ": " + strerror(errno);
  return false;
}

bool SharedLttngDaemon::find_or_start(std::string& error) {
  const CommandResult probe = lttng({"list"}, kProbeLimit);
  if (probe.is_timed_out) {
    error = "root's session daemon does not answer; it is stopped or stuck";
    return false;
  }
  if (probe.is_ok()) {
    remove_stale_sessions(probe.output);
    return true;
  }
  const pid_t pid = start_daemon(0, error);
  if (pid > 0) write_pid(lock_, pid);
  return pid > 0;
}

/// A run that was killed leaves its session, but not its lock on the file of the same name.
void SharedLttngDaemon::remove_stale_sessions(const std::string& list) const {
  for (const std::string& name : run_sessions_in(list)) {
    const FileDescriptor file = open_lock(name, 0);
    if (!file.is_open() || !try_lock(file)) continue;
    lttng({"destroy", "--no-wait", name}, kProbeLimit);
    unlink(path_of(name).c_str());
  }
}

void SharedLttngDaemon::stop() {
  if (!living_.is_open()) return;
  unlink(path_of(run_name()).c_str());
  living_.close();
  std::string error;
  if (!lock_.is_open()) lock_ = lock_daemon(error);
  if (lock_.is_open()) stop_if_unused();
  lock_.close();
}

void SharedLttngDaemon::stop_if_unused() const {
  const pid_t pid = read_pid(lock_);
  if (is_daemon(pid) && !has_sessions()) stop_daemon(pid);
}

/// Also where the question is not answered: better a daemon too many than somebody's trace lost.
bool SharedLttngDaemon::has_sessions() const {
  const CommandResult list = lttng({"--mi=xml", "list"}, kProbeLimit);
  return !list.is_ok() || list.output.find("<session>") != std::string::npos;
}

}  // namespace torchtrace::cli
