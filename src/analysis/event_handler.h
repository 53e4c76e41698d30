#pragma once

#include <cstdint>
#include <string>

#include "core/events.h"

namespace torchtrace::analysis {

/// The trace an event was read from.
struct TraceInfo {
  std::string path;    ///< Folder that holds its `metadata`, relative as the user gave it.
  std::string host;    ///< `hostname` of the trace's environment; empty where it has none.
  std::string tracer;  ///< `tracer_name` of its environment: "lttng-ust", "torchtrace".
  /// The same number for all traces of one host: pids are unique in it.
  std::uint32_t host_id = 0;
};

/// Receives the events of provider `torchtrace`, in the order in which their sinks emitted them
/// (merged over all streams and traces read together).
///
/// Thread: the one that called the reader.
/// Owner: strings in events live until the call returns.
/// Errors: may throw; the reader stops and passes the exception on.
class EventHandler {
 public:
  EventHandler() = default;
  EventHandler(const EventHandler&) = delete;
  EventHandler& operator=(const EventHandler&) = delete;
  virtual ~EventHandler() = default;

#define TORCHTRACE_HANDLER_MEMBER(NAME, name) \
  virtual void on_##name(const TraceInfo& trace, const torchtrace_##name& event) = 0;
  TORCHTRACE_EVENTS(TORCHTRACE_HANDLER_MEMBER)
#undef TORCHTRACE_HANDLER_MEMBER
};

}  // namespace torchtrace::analysis
