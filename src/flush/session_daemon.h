#pragma once

#include <sys/types.h>

#include <string>

namespace torchtrace::flush {

enum class SessionDaemonState {
  kNone,     ///< Nobody listens; a dead daemon leaves its sockets behind.
  kStopped,  ///< By SIGSTOP or a debugger: applications would wait for it in vain.
  kListens
};

struct SessionDaemon {
  SessionDaemonState state = SessionDaemonState::kNone;
  pid_t pid = 0;  ///< 0: none, or of another pid namespace.
};

/// Where root's daemon, which serves all users, has its sockets.
/// Source: lttng-ust(3), FILES: `lttng-ust-sock-N` there and in $LTTNG_HOME/.lttng.
inline constexpr char kSystemDaemonFolder[] = "/var/run/lttng";

/// The lttng-sessiond that has its sockets for applications in `folder`. Never blocks.
SessionDaemon find_session_daemon(const std::string& folder);

/// True if an lttng-sessiond listens for applications, the system's or that of `lttng_home`, and is
/// not stopped: only then is it worth a wait for its answer.
/// `lttng_home` is $LTTNG_HOME or $HOME, empty if neither is set. Never blocks.
bool session_daemon_answers(const std::string& lttng_home);

}  // namespace torchtrace::flush
