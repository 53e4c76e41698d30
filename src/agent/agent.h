#pragma once

#include "core/process.h"

/// The one place that knows observer, flush and configuration: load, start, fork, exit.
///
///   constructor, dlopen hook -> look_for_torch   libtorch is there: read the options, register
///   first operator           -> activate         mapping, flush thread
///   fork                     -> fork_handlers    the child starts afresh at its first operator
///   exit, _exit              -> finish           bounded final drain
///
/// State is leaked on purpose: callbacks and other threads may still come.
namespace torchtrace::flush {
class FlushThread;
}

namespace torchtrace::agent {

/// Called once, by the constructor.
void set_real_dlopen(void* (*real_dlopen)(const char*, int)) noexcept;

/// True once there is nothing more to look for: registered, or off.
bool has_settled() noexcept;

/// If libtorch_cpu is loaded: registers with it. Must not run inside a dlopen of the program (its
/// libraries' constructors may not have run). Thread: any; one at a time does the work.
void look_for_torch() noexcept;

/// Same, on a thread of its own that waits for the loader to be done: for the case in which it is
/// unknown whether a dlopen is under way.
void look_for_torch_later() noexcept;

/// Final drain, at most `kExitDeadline_ns`; nothing if this process has recorded nothing.
void finish() noexcept;

/// Looks no more: another agent is there already, or the program is setuid.
void stay_off() noexcept;

/// Has the flight recorder write what it holds, soon. False if there is none, or no operator has
/// run yet. Thread: any; async-signal-safe.
bool request_dump() noexcept;

/// fork handlers' share of the state: in the child, the parent's process and flush thread are
/// forgotten.
void forget_parent() noexcept;

/// The flush thread of this process; nullptr if there is none.
flush::FlushThread* flush_thread() noexcept;

}  // namespace torchtrace::agent
