#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bounded_command.h"
#include "environment_block.h"
#include "scratch_directory.h"
#include "signal_guard.h"

namespace torchtrace::cli {

/// The LTTng session daemon that a run records with.
///
/// An ordinary user's run gets a daemon of its own, which lives in a scratch folder and ends with
/// the run, whatever else the user traces.
///
/// Root has one daemon on a machine, its place being compiled into LTTng: a run uses the one that
/// is there, else starts one, and stops only the one that it started and only if nobody's session
/// is left in it. A session of root's sees every program, so only one run of root's records with
/// LTTng at a time: the others would find each other's operators in their traces.
class LttngDaemon {
 public:
  struct Setup {
    std::unique_ptr<ScratchDirectory> home;
    /// With LTTNG_HOME in the scratch folder, so that the user's current session (~/.lttngrc)
    /// stays.
    EnvironmentBlock environment;
    const SignalGuard& signals;
    std::string version;
  };

  virtual ~LttngDaemon() = default;
  LttngDaemon(const LttngDaemon&) = delete;
  LttngDaemon& operator=(const LttngDaemon&) = delete;

  /// Runs `lttng ARGUMENTS`; bounded, since a daemon that is stopped never answers.
  CommandResult lttng(std::vector<std::string> arguments, std::chrono::milliseconds limit) const;

  /// What `lttng --version` says.
  const std::string& version() const { return setup_.version; }

  /// Lets the program find the daemon.
  virtual void add_to(EnvironmentBlock& program) const = 0;

  /// Ends what was started for this run, all sessions of which have been removed. Takes at most
  /// some seconds.
  virtual void stop() = 0;

 protected:
  explicit LttngDaemon(Setup setup) : setup_(std::move(setup)) {}

  const std::string& home() const { return setup_.home->path(); }
  const SignalGuard& signals() const { return setup_.signals; }
  /// Starts lttng-sessiond and waits until it takes commands.
  /// Returns its pid, or -1 and a sentence in `error`.
  pid_t start_daemon(int signal_at_our_death, std::string& error) const;
  /// Asks a daemon that we started to end, and kills it where it does not.
  void stop_daemon(pid_t pid) const;

 private:
  /// Waits until the daemon says that it takes commands; false: it ended, or takes too long.
  bool is_ready(pid_t daemon) const;

  Setup setup_;
};

/// Finds or starts a daemon.
/// Errors: nullptr and in `error` why LTTng cannot be had, a sentence without its full stop.
std::unique_ptr<LttngDaemon> open_lttng_daemon(const EnvironmentBlock& environment,
                                               const SignalGuard& signals, std::string& error);

}  // namespace torchtrace::cli
