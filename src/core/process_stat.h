#pragma once

#include <sys/types.h>

#include <cstdint>

namespace torchtrace::core {

/// From /proc/PID/stat. Source: proc_pid_stat(5).

/// Field 22, in clock ticks since boot: with the pid it names a process; 0 if there is none.
std::uint64_t process_start_time(pid_t pid) noexcept;

/// True if no thread of the program itself is left: the main thread has ended (pthread_exit), and
/// what runs is the calling thread, which must be ours, and the two listeners of lttng-ust.
/// Source: lttng-ust names them "...-ust" (liblttng-ust/lttng-ust-comm.c, lttng_ust_setname).
bool only_helpers_are_left() noexcept;

/// Field 3, 'T' and 't' of a process that is stopped; '?' if there is none.
char process_state(pid_t pid) noexcept;

}  // namespace torchtrace::core
