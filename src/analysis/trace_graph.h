#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/bt_ref.h"

namespace torchtrace::analysis {

/// The plugin that reads CTF, and the one component class of it that we use.
class CtfPlugin {
 public:
  /// Errors: throws TraceError where babeltrace2's plugin `ctf` cannot be found.
  CtfPlugin();

  const bt_component_class_source* source_class() const noexcept;

  /// UUID of the trace in `folder`, empty where it has none. Folders with the same UUID are parts
  /// of one trace (LTTng's rotation).
  /// Errors: throws TraceError where the metadata cannot be read.
  std::string trace_uuid(const std::string& folder) const;

 private:
  PluginRef plugin_;
};

/// A libbabeltrace2 graph over one trace: its source.ctf.fs and a sink of ours with one input per
/// stream, whose messages the caller takes one by one.
///
/// There is no muxer: the caller merges the streams. So a stream that turns out to be broken ends
/// by itself instead of taking all others along, and a single stream is not merged at all.
///
/// Each trace has a graph of its own because a component that cannot be initialised (one bad trace)
/// makes the whole graph unusable.
class TraceGraph {
 public:
  /// `folders`: the parts of one trace.
  /// Errors: throws TraceError if the metadata or the packets of a stream file cannot be read.
  TraceGraph(const CtfPlugin& plugin, const std::vector<std::string>& folders);
  ~TraceGraph();
  TraceGraph(const TraceGraph&) = delete;
  TraceGraph& operator=(const TraceGraph&) = delete;

  std::size_t stream_count() const noexcept { return streams_.size(); }

  /// The current message of a stream, or nullptr at its end. Valid until the next call of `pop` for
  /// it.
  /// Errors: throws TraceError where the graph itself fails; what ends one stream early is
  /// `stream_error`.
  const bt_message* front(std::size_t stream) {
    Stream& s = streams_[stream];
    return s.next < s.count || refill(s) ? s.messages[s.next] : nullptr;
  }

  void pop(std::size_t stream) {
    Stream& s = streams_[stream];
    bt_message_put_ref(s.messages[s.next++]);
  }

  /// Why a stream ended before its end; empty where it did not.
  const std::string& stream_error(std::size_t stream) const { return streams_[stream].error; }

 private:
  struct Stream {
    IteratorRef iterator;
    bt_message_array_const messages = nullptr;  ///< The iterator's, until its next `next`.
    std::uint64_t count = 0;
    std::uint64_t next = 0;
    bool ended = false;
    std::string error;
  };

  static bt_component_class_initialize_method_status initialize_sink(
      bt_self_component_sink* sink, bt_self_component_sink_configuration* configuration,
      const bt_value* params, void* graph) noexcept;
  static bt_component_class_sink_graph_is_configured_method_status create_iterators(
      bt_self_component_sink* sink) noexcept;
  static bt_component_class_sink_consume_method_status consume(
      bt_self_component_sink* sink) noexcept;

  const bt_component_source* add_source(const CtfPlugin& plugin,
                                        const std::vector<std::string>& folders);
  const bt_component_sink* add_sink();
  void connect(const bt_component_source* source, const bt_component_sink* sink);
  bool refill(Stream& stream);

  SinkClassRef sink_class_;
  GraphRef graph_;
  std::vector<Stream> streams_;
  Stream* wanted_ = nullptr;  ///< The one `consume` is to fill.
};

}  // namespace torchtrace::analysis
