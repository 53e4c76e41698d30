#include "core/log.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "core/errno_guard.h"
#include "core/quiet_write.h"

namespace torchtrace::core {

namespace {

struct Line {
  char text[1024];
  std::size_t length = 0;

  void add(const char* piece) noexcept {
    const std::size_t room = sizeof(text) - 1 - length;  // one for the newline
    const std::size_t bytes = std::min(std::strlen(piece), room);
    std::memcpy(text + length, piece, bytes);
    length += bytes;
  }

  void add(unsigned long number) noexcept {
    char digits[24];
    char* at = digits + sizeof(digits) - 1;
    *at = '\0';
    do {
      *--at = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    add(at);
  }
};

}  // namespace

void say(const char* message) noexcept {
  const ErrnoGuard keep_errno;
  Line line;
  line.add("torchtrace[");
  line.add(static_cast<unsigned long>(getpid()));
  line.add("]: ");
  line.add(message);
  line.text[line.length++] = '\n';
  const QuietWrite quiet;
  // There is nobody to tell if stderr is closed.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.text, line.length);
}

void say_once(std::atomic<bool>& said, const char* message) noexcept {
  if (!said.exchange(true, std::memory_order_relaxed)) say(message);
}

}  // namespace torchtrace::core
