#pragma once

#include <atomic>

namespace torchtrace::core {

/// Writes one line `torchtrace[PID]: MESSAGE` to stderr, the first time it is called with a given
/// `said`; never to stdout, and in one write(2), since the program's own output goes there too.
/// Thread: any, never on the hot path. Async-signal-safe. Keeps errno.
void say_once(std::atomic<bool>& said, const char* message) noexcept;

/// Same, for messages that can only come once.
void say(const char* message) noexcept;

}  // namespace torchtrace::core
