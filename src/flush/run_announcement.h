#pragma once

#include <string>

namespace torchtrace::flush {

/// Tells the `torchtrace run` that this process runs under that it is about to use its LTTng
/// session. A session of root's could see every process on the machine, so it takes none but those.
///
/// `socket` is the value of TORCHTRACE_RUN_SOCKET: a datagram socket that takes the pid in decimal
/// digits. Empty: there is no such run. Each process announces itself, forked children too.
/// Returns true if the run has been told; false: there is none, or it has ended.
/// Thread: the flush thread. Never blocks.
bool announce_to_run(const std::string& socket) noexcept;

}  // namespace torchtrace::flush
