#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/event_handler.h"

namespace torchtrace::analysis {

/// What reading one trace came to.
struct TraceSummary {
  TraceInfo info;
  std::uint64_t events = 0;  ///< Of any provider.
  std::uint64_t torchtrace_events = 0;
  std::uint64_t discarded_events = 0;  ///< That its tracer says it had no room for.
  std::uint64_t discarded_packets = 0;
  bool discarded_unknown = false;  ///< Some were discarded, and the trace does not say how many.

  bool discarded() const {
    return discarded_events != 0 || discarded_packets != 0 || discarded_unknown;
  }
};

struct ReadSummary {
  std::vector<TraceSummary> traces;
  /// What is there but could not be read, one sentence each; empty: everything was read.
  std::vector<std::string> missing;

  std::uint64_t torchtrace_events() const;
  /// Whether LTTng discarded anything, in any trace. (What the built-in sink discards is in the
  /// receipt.)
  bool lttng_discarded() const;
};

/// Reads all CTF traces in and below `directory`, and hands the events of provider `torchtrace` to
/// `handler`, merged over all streams in the order in which they were emitted.
///
/// A trace, a stream or a packet that cannot be read is left out and listed in `missing`; the rest
/// is read. Memory does not depend on the length of the traces.
///
/// Thread: one at a time. Errors: throws TraceError where no trace at all could be opened.
ReadSummary read_traces(const std::string& directory, EventHandler& handler);

}  // namespace torchtrace::analysis
