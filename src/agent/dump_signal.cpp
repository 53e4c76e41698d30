#include "agent/dump_signal.h"

#include <signal.h>

#include "agent/agent.h"

namespace torchtrace::agent {

namespace {

void on_dump_signal(int /*signal*/) { request_dump(); }

}  // namespace

void handle_dump_signal(config::DumpSignal signal) noexcept {
  if (signal == config::DumpSignal::kNone) return;
  const int number = signal == config::DumpSignal::kUsr1 ? SIGUSR1 : SIGUSR2;
  struct sigaction action {};
  if (sigaction(number, nullptr, &action) != 0) return;
  if ((action.sa_flags & SA_SIGINFO) != 0 || action.sa_handler != SIG_DFL) return;
  action = {};
  action.sa_handler = on_dump_signal;
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, nullptr);
}

}  // namespace torchtrace::agent
