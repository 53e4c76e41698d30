#pragma once

#include <sys/types.h>

#include <cstdint>

namespace torchtrace::core {

/// From /proc/PID/stat. Source: proc_pid_stat(5).

/// Field 22, in clock ticks since boot: with the pid it names a process; 0 if there is none.
std::uint64_t process_start_time(pid_t pid) noexcept;

/// Field 3, 'T' and 't' of a process that is stopped; '?' if there is none.
char process_state(pid_t pid) noexcept;

}  // namespace torchtrace::core
