#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace torchtrace::cli {
namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool is_dumb_terminal() {
  const char* term = std::getenv("TERM");
  return term == nullptr || std::string_view(term) == "dumb";
}

}  // namespace

analysis::TextStyle style_for(const std::ostream& out) {
  analysis::TextStyle style;
  if (&out != &std::cout || ::isatty(STDOUT_FILENO) == 0) {
    return style;
  }
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
    style.width = size.ws_col;
  }
  style.color = !is_set("NO_COLOR") && !is_dumb_terminal();
  return style;
}

}  // namespace torchtrace::cli
