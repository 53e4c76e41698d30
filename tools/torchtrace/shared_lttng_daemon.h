#pragma once

#include "file_descriptor.h"
#include "lttng_daemon.h"

namespace torchtrace::cli {

/// Root's daemon, of which a machine has one: its place is compiled into LTTng.
///
/// A run uses the one that is there, else starts one. One that a run has started is stopped by the
/// last run to end, if nobody's session is left in it. Files beside the daemon's own tell runs of
/// each other: `torchtrace-run.lock` is locked while a run finds, starts or stops the daemon, and
/// holds the pid of one that a run started; `SESSION.lock` is locked as long as that session's run
/// lives.
class SharedLttngDaemon final : public LttngDaemon {
 public:
  explicit SharedLttngDaemon(Setup setup) : LttngDaemon(std::move(setup)) {}
  ~SharedLttngDaemon() override { SharedLttngDaemon::stop(); }

  bool is_shared() const override { return true; }
  bool open(std::string& error) override;
  void session_has_begun() override { lock_.close(); }
  void add_to(EnvironmentBlock& /*program*/) const override {}
  void stop() override;

 private:
  bool mark_as_living(std::string& error);
  bool find_or_start(std::string& error);
  void remove_stale_sessions(const std::string& list) const;
  void stop_if_unused() const;
  bool has_sessions() const;

  FileDescriptor lock_;    ///< On torchtrace-run.lock.
  FileDescriptor living_;  ///< On this session's lock file.
};

}  // namespace torchtrace::cli
