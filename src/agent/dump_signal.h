#pragma once

#include "config/config.h"

namespace torchtrace::agent {

/// Has the flight recorder dump at that signal, if the program has left it at its default until
/// now. The handler calls `request_dump` and nothing else; it interrupts no system call.
void handle_dump_signal(config::DumpSignal signal) noexcept;

}  // namespace torchtrace::agent
