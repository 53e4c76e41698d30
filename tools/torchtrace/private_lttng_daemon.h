#pragma once

#include "lttng_daemon.h"

namespace torchtrace::cli {

/// An ordinary user's daemon for one run: it lives in the run's scratch folder, sees nobody else's
/// programs, and ends with the run, also where the run is killed.
class PrivateLttngDaemon final : public LttngDaemon {
 public:
  explicit PrivateLttngDaemon(Setup setup) : LttngDaemon(std::move(setup)) {}
  ~PrivateLttngDaemon() override { PrivateLttngDaemon::stop(); }

  bool is_shared() const override { return false; }
  bool open(std::string& error) override;
  void add_to(EnvironmentBlock& program) const override;
  void stop() override;

 private:
  void wait_for_all_children() const;

  pid_t pid_ = -1;
};

}  // namespace torchtrace::cli
