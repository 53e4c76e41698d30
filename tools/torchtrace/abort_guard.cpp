#include "abort_guard.h"

#include <unistd.h>

#include <cstddef>

#include "commands.h"

namespace torchtrace::cli {
namespace {

/// Made before it is needed: a signal handler cannot.
std::string& sentence() {
  static std::string text;
  return text;
}

extern "C" void end_after_abort(int /*signal*/) {
  const std::string& text = sentence();
  // Whether that can be written or not, the process ends.
  const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
  static_cast<void>(ignored);
  ::_exit(kExitFailed);
}

}  // namespace

AbortGuard::AbortGuard(const std::string& directory) {
  sentence() = "torchtrace: cannot read the trace '" + directory +
               "': it is damaged in a way that makes libbabeltrace2 give up\n";
  struct sigaction action {};
  action.sa_handler = end_after_abort;
  ::sigaction(SIGABRT, &action, &previous_);
}

AbortGuard::~AbortGuard() { ::sigaction(SIGABRT, &previous_, nullptr); }

}  // namespace torchtrace::cli
