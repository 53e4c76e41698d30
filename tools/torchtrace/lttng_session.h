#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lttng_daemon.h"

namespace torchtrace::cli {

/// A recording session that takes all events of provider `torchtrace` from its start to `finish`:
/// in a daemon of the run's own those of every process, in a shared one those of the processes that
/// are added.
class LttngSession {
 public:
  /// The trace goes to `directory`. `daemon` must live longer.
  /// Errors: nullptr and in `error` why not, a sentence without its full stop.
  static std::unique_ptr<LttngSession> start(const LttngDaemon& daemon,
                                             const std::string& directory, std::string& error);
  /// Removes the session, without waiting for its data, if `finish` was not called.
  ~LttngSession();
  LttngSession(const LttngSession&) = delete;
  LttngSession& operator=(const LttngSession&) = delete;

  /// Takes these processes' events; in a daemon of the run's own it does so anyway. Errors: a
  /// sentence, or empty.
  std::string add(const std::vector<pid_t>& processes) const;

  /// Waits, bounded, until all data are in the files, and removes the session.
  /// Returns what may be missing in the trace and why, a sentence; empty if all is there.
  std::string finish();

 private:
  explicit LttngSession(const LttngDaemon& daemon) : daemon_(daemon), name_(daemon.run_name()) {}
  bool set_up(const std::string& directory, std::string& error) const;

  const LttngDaemon& daemon_;
  std::string name_;
  bool is_finished_ = false;
};

/// Size of a sub-buffer of the session's channel, of which each CPU has five (LTTng keeps one more
/// than asked for), all of them resident from the start: 1 MiB, or 512 KiB above 64 CPUs, or less
/// where they would take more than half of what is free in /dev/shm.
/// Smaller ones than 1 MiB have lost events when one thread emitted at full speed.
/// Returns 0 where not even 128 KiB fit.
std::uint64_t subbuffer_bytes(std::uint64_t cpus, std::uint64_t free_shm_bytes);

}  // namespace torchtrace::cli
