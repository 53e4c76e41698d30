#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/durations.h"
#include "analysis/trace_reader.h"
#include "core/events.h"

namespace torchtrace::analysis {

/// All recorded calls of one operator, over all processes.
struct OperatorStats {
  std::string name;
  Durations durations;
  std::uint64_t self_ns = 0;
  std::uint64_t commands = 0;  ///< GPU commands launched under it.
};

struct ThreadStats {
  std::uint32_t slot = 0;
  std::optional<std::uint32_t> tid;
  std::optional<std::uint64_t> torch_thread;
  std::string name;
  std::uint64_t calls = 0;
  std::uint64_t self_ns = 0;
};

/// An operator that had begun and not ended when the trace ended. It has no duration.
struct OpenOperator {
  std::string name;
  std::uint64_t op_id = 0;
  std::uint64_t start_ns = 0;  ///< CLOCK_MONOTONIC
  std::uint32_t slot = 0;
};

/// Records lost at one time, as the agent reported them.
struct LossReport {
  std::string reason;
  std::uint64_t count = 0;
  std::uint32_t tid = 0;
};

/// What the `process` event says. Strings that the agent did not know are "unknown".
struct ProcessInfo {
  std::string host, command, torch_version, torch_path, torch_layout, agent_version, config_digest,
      clock;
  std::int64_t rank = -1;
  std::int64_t world_size = -1;
  std::uint64_t clock_hz = 0;   ///< Of `clock`.
  std::uint64_t hold_ns = 0;    ///< How long the agent holds events back to order them.
  std::uint64_t period_ns = 0;  ///< How often it empties its rings.
};

struct ProcessStats {
  std::uint32_t pid = 0;
  std::optional<std::uint64_t> start_time;  ///< Clock ticks since boot; unknown without `info`.
  std::optional<ProcessInfo> info;
  std::optional<torchtrace_receipt> receipt;  ///< The last one; `final` says whether it is exact.
  std::uint64_t read = 0;                     ///< Recorded operators read from the trace.
  std::uint64_t read_at_receipt = 0;          ///< Of these, before the last receipt.
  std::uint64_t late = 0;                     ///< Events flagged as emitted behind the watermark.
  std::uint64_t malformed = 0;                ///< Operators without an op_id.
  std::uint64_t missing_parents = 0;          ///< SelfTimeTracker::missing_parents
  std::uint64_t left_out[4] = {};             ///< op_end events by outcome; the first stays 0.
  std::vector<ThreadStats> threads;           ///< By slot.
  std::vector<OpenOperator> open;             ///< By start.
  std::vector<LossReport> losses;
};

/// Everything that reports are made from.
struct TraceModel {
  std::vector<OperatorStats> operators;
  std::vector<ProcessStats> processes;  ///< In the order in which the traces mention them.
  ReadSummary read;
};

/// Reads all traces in and below `directory`.
/// Errors: throws TraceError where nothing of torchtrace's could be read; what could be read only
/// in part is in `read.missing`.
TraceModel load_model(const std::string& directory);

}  // namespace torchtrace::analysis
