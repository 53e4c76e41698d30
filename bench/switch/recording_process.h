#pragma once

#include <cstdint>

#include "config/config.h"
#include "core/process.h"
#include "flush/flush_thread.h"

namespace torchtrace::bench {

/// The configuration that the environment names (`TORCHTRACE_OUTPUT_SINK=none` and so on).
/// Errors: throws std::runtime_error with a sentence.
config::Config load_configuration();

/// What the agent makes at a process's first operator: rings, names, registry, and the flush thread
/// that drains them.
/// Owner: leaked, as in the agent.
struct RecordingProcess {
  core::Process* process = nullptr;
  flush::FlushThread* flush_thread = nullptr;

  /// Errors: throws std::runtime_error with a sentence.
  static RecordingProcess start(const config::Config& config);

  /// Waits until no record is left in a ring. Thread: any.
  void wait_until_drained() const;

  /// Operators started, and those lost because a ring was full.
  struct Counts {
    std::uint64_t started = 0;
    std::uint64_t dropped = 0;
  };
  Counts counts() const noexcept;

  /// Lets the flush thread write the rest and close the trace.
  void finish();
};

}  // namespace torchtrace::bench
