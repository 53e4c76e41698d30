#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bounded_command.h"
#include "environment_block.h"
#include "scratch_directory.h"
#include "signal_guard.h"

namespace torchtrace::cli {

/// The LTTng session daemon that a run records with: an ordinary user's own
/// (private_lttng_daemon.h) or root's (shared_lttng_daemon.h).
class LttngDaemon {
 public:
  struct Setup {
    /// Names the run's session.
    std::string run_name;
    /// Output of `lttng --version`.
    std::string version;
    std::unique_ptr<ScratchDirectory> home;
    /// With LTTNG_HOME in the scratch folder: the user's current session (~/.lttngrc) stays.
    EnvironmentBlock environment;
    const SignalGuard& signals;
  };
  virtual ~LttngDaemon() = default;
  LttngDaemon(const LttngDaemon&) = delete;
  LttngDaemon& operator=(const LttngDaemon&) = delete;

  /// Runs `lttng ARGUMENTS`; bounded, since a daemon that is stopped never answers.
  CommandResult lttng(std::vector<std::string> arguments, std::chrono::milliseconds limit) const;

  const std::string& run_name() const { return setup_.run_name; }
  const std::string& version() const { return setup_.version; }
  const std::string& home() const { return setup_.home->path(); }

  /// True if others' programs are in reach of the daemon's sessions.
  virtual bool is_shared() const = 0;

  /// Finds or starts it.
  /// Errors: false and in `error` why it cannot be had, a sentence without its full stop.
  virtual bool open(std::string& error) = 0;

  /// Called once the run's session is there.
  virtual void session_has_begun() {}

  /// Lets the program find the daemon.
  virtual void add_to(EnvironmentBlock& program) const = 0;

  /// Ends what was started for this run, whose session has been removed. At most some seconds.
  virtual void stop() = 0;

 protected:
  explicit LttngDaemon(Setup setup) : setup_(std::move(setup)) {}

  const SignalGuard& signals() const { return setup_.signals; }

  /// Starts lttng-sessiond and waits until it takes commands.
  /// Returns its pid, or -1 and a sentence in `error`.
  pid_t start_daemon(int signal_at_our_death, std::string& error) const;

 private:
  /// Waits until the daemon says that it takes commands; false: it ended, or takes too long.
  bool is_ready(pid_t daemon) const;

  Setup setup_;
};

/// Limit for a question to a daemon, which it answers within some ms; one that has not answered by
/// then is stopped or stuck.
inline constexpr std::chrono::milliseconds kProbeLimit = std::chrono::seconds(5);

/// The daemon for this user, open.
/// Errors: nullptr and in `error` why LTTng cannot be had, a sentence without its full stop.
std::unique_ptr<LttngDaemon> open_lttng_daemon(const EnvironmentBlock& environment,
                                               const SignalGuard& signals, std::string& error);

}  // namespace torchtrace::cli
