#pragma once

#include <string>

namespace torchtrace::flush {

/// True if an lttng-sessiond listens for applications, the system's or that of `lttng_home`, and is
/// not stopped (SIGSTOP, or a debugger's): only then is it worth a wait for its answer.
/// `lttng_home` is $LTTNG_HOME or $HOME, empty if neither is set. Never blocks.
/// Source: lttng-ust(3), FILES: `lttng-ust-sock-N` in /var/run/lttng and in $LTTNG_HOME/.lttng.
bool session_daemon_answers(const std::string& lttng_home) noexcept;

}  // namespace torchtrace::flush
