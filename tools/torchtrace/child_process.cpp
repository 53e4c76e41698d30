#include "child_process.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "spawn.h"

namespace torchtrace::cli {
namespace {

/// Stops by which a shell takes a job from the terminal. SIGSTOP is not one of them: it is what a
/// debugger or an administrator does to the program alone, and it may continue it alone.
bool is_job_control_stop(int status) {
  return WIFSTOPPED(status) && (WSTOPSIG(status) == SIGTSTP || WSTOPSIG(status) == SIGTTIN ||
                                WSTOPSIG(status) == SIGTTOU);
}

/// The program's status once it has ended.
std::optional<int> reap(pid_t program) {
  int status = 0;
  while (waitpid(program, &status, WNOHANG | WUNTRACED) > 0) {
    if (!WIFSTOPPED(status)) return status;
    if (is_job_control_stop(status)) kill(getpid(), SIGSTOP);
  }
  return std::nullopt;
}

/// True if the terminal sent it, to every process of its foreground group.
bool is_from_terminal(const siginfo_t& info) {
  const bool is_key =
      info.si_signo == SIGINT || info.si_signo == SIGQUIT || info.si_signo == SIGTSTP;
  return is_key && info.si_code == SI_KERNEL;
}

int supervise(pid_t program, const SignalGuard& signals, const Listener& listener) {
  for (;;) {
    const std::optional<siginfo_t> info = signals.wait(listener.fd);
    if (!info) {
      listener.serve();
    } else if (info->si_signo != SIGCHLD && !is_from_terminal(*info)) {
      kill(program, info->si_signo);
    }
    // Always: `serve` may have started programs, and with theirs taken this one's SIGCHLD.
    if (const auto status = reap(program)) return *status;
  }
}

}  // namespace

ProgramEnd run_program(const std::vector<std::string>& words, const EnvironmentBlock& environment,
                       const SignalGuard& signals, const Listener& listener) {
  const SpawnResult started = spawn({words, environment, signals});
  if (started.pid < 0) return {started.error, 0};
  return {0, supervise(started.pid, signals, listener)};
}

int exit_as(const ProgramEnd& end) {
  if (end.start_error != 0) return end.start_error == ENOENT ? kExitNotFound : kExitNotExecutable;
  if (WIFEXITED(end.wait_status)) return WEXITSTATUS(end.wait_status);
  const int number = WTERMSIG(end.wait_status);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  signal(number, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  raise(number);
  return 128 + number;
}

}  // namespace torchtrace::cli
