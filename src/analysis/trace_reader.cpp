#include "analysis/trace_reader.h"

#include <algorithm>
#include <map>
#include <memory>
#include <queue>
#include <unordered_map>

#include "analysis/event_decoder.h"
#include "analysis/trace_error.h"
#include "analysis/trace_files.h"
#include "analysis/trace_graph.h"
#include "analysis/trace_repair.h"

namespace torchtrace::analysis {
namespace {

/// One trace while it is read.
struct OpenTrace {
  TraceSummary summary;
  std::unique_ptr<RepairedTrace> repaired;  ///< Only where it had to be; outlives the graph.
  std::unique_ptr<TraceGraph> graph;
  std::unordered_map<const bt_event_class*, EventDecoder> decoders;
};

/// One stream in the merge: its current event and when that was emitted.
struct Head {
  std::int64_t ns_from_origin = 0;
  OpenTrace* trace = nullptr;
  std::size_t stream = 0;
  std::size_t order = 0;  ///< Keeps events of the same time in a fixed order.

  bool operator>(const Head& other) const noexcept {
    return ns_from_origin != other.ns_from_origin ? ns_from_origin > other.ns_from_origin
                                                  : order > other.order;
  }
};

std::string environment_string(const bt_trace* trace, const char* name) {
  const bt_value* value = bt_trace_borrow_environment_entry_value_by_name_const(trace, name);
  return value != nullptr && bt_value_is_string(value) ? bt_value_string_get(value) : "";
}

/// When an event was emitted; `previous` where its stream has no clock.
std::int64_t emission_time(const bt_message* message, std::int64_t previous) {
  const bt_event* event = bt_message_event_borrow_event_const(message);
  const bt_stream_class* stream_class =
      bt_event_class_borrow_stream_class_const(bt_event_borrow_class_const(event));
  if (bt_stream_class_borrow_default_clock_class_const(stream_class) == nullptr) {
    return previous;
  }
  std::int64_t ns = 0;
  const auto status = bt_clock_snapshot_get_ns_from_origin(
      bt_message_event_borrow_default_clock_snapshot_const(message), &ns);
  if (status == BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK) {
    return ns;
  }
  bt_current_thread_clear_error();  // A time that no clock shows: damaged.
  return previous;
}

class DirectoryReader {
 public:
  explicit DirectoryReader(EventHandler& handler) : handler_(handler) {}

  ReadSummary read(const std::string& directory);

 private:
  void open_all(const FoundTraces& found);
  std::vector<std::vector<std::string>> group_by_uuid(const std::vector<std::string>& folders);
  void open(const std::vector<std::string>& folders);
  void merge();
  void start(OpenTrace& trace);
  bool advance(Head& head);
  const EventDecoder& decoder_for(OpenTrace& trace, const bt_event_class* event_class);
  void take_event(const Head& head, const bt_message* message);
  void take_other(OpenTrace& trace, const bt_message* message);
  void identify(OpenTrace& trace, const bt_message* stream_beginning);
  void end_stream(const Head& head, const std::string& problem);

  EventHandler& handler_;
  CtfPlugin plugin_;
  std::vector<std::unique_ptr<OpenTrace>> traces_;
  std::vector<std::string> missing_;
  std::map<std::string, std::uint32_t> host_ids_;
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads_;
};

ReadSummary DirectoryReader::read(const std::string& directory) {
  const FoundTraces found = find_traces(directory);
  missing_ = found.unreadable;
  open_all(found);
  if (traces_.empty()) {
    throw TraceError(missing_.empty() ? "'" + directory + "' holds no trace" : missing_.back());
  }
  merge();
  ReadSummary summary;
  summary.missing = std::move(missing_);
  for (const auto& trace : traces_) {
    summary.traces.push_back(std::move(trace->summary));
  }
  return summary;
}

/// Folders of the same UUID are parts of one trace, as after a rotation, and are opened together.
std::vector<std::vector<std::string>> DirectoryReader::group_by_uuid(
    const std::vector<std::string>& folders) {
  std::vector<std::vector<std::string>> groups;
  std::map<std::string, std::size_t> group_of_uuid;
  for (const std::string& folder : folders) {
    try {
      const std::string uuid = plugin_.trace_uuid(folder);
      const auto [group, is_new] = group_of_uuid.emplace(uuid, groups.size());
      if (is_new || uuid.empty()) {
        groups.emplace_back();
        group->second = groups.size() - 1;
      }
      groups[group->second].push_back(folder);
    } catch (const TraceError&) {
      groups.push_back({folder});  // Opening it will say more about why.
    }
  }
  return groups;
}

void DirectoryReader::open_all(const FoundTraces& found) {
  for (const std::vector<std::string>& folders : group_by_uuid(found.folders)) {
    try {
      open(folders);
    } catch (const std::exception& error) {
      missing_.emplace_back(error.what());
    }
  }
}

void DirectoryReader::open(const std::vector<std::string>& folders) {
  auto trace = std::make_unique<OpenTrace>();
  trace->summary.info.path = folders.front();
  try {
    trace->graph = std::make_unique<TraceGraph>(plugin_, folders);
  } catch (const TraceError&) {
    // Whatever it is, what can be read is found file by file.
    const TryOpen try_open = [this](const std::vector<std::string>& parts) {
      try {
        const TraceGraph graph(plugin_, parts);
        return std::string();
      } catch (const TraceError& error) {
        return std::string(error.what());
      }
    };
    trace->repaired = std::make_unique<RepairedTrace>(folders, try_open);
    trace->graph = std::make_unique<TraceGraph>(plugin_, trace->repaired->folders());
    missing_.insert(missing_.end(), trace->repaired->missing().begin(),
                    trace->repaired->missing().end());
  }
  traces_.push_back(std::move(trace));
}

void DirectoryReader::merge() {
  for (const auto& trace : traces_) {
    start(*trace);
  }
  while (!heads_.empty()) {
    Head head = heads_.top();
    heads_.pop();
    // Streams take turns by the batch more often than by the event: stay with one while it is
    // first.
    bool more = true;
    do {
      take_event(head, head.trace->graph->front(head.stream));
      head.trace->graph->pop(head.stream);
      more = advance(head);
    } while (more && (heads_.empty() || heads_.top() > head));
    if (more) {
      heads_.push(head);
    }
  }
}

void DirectoryReader::start(OpenTrace& trace) {
  for (std::size_t stream = 0; stream < trace.graph->stream_count(); ++stream) {
    Head head{0, &trace, stream, heads_.size()};
    if (advance(head)) {
      heads_.push(head);
    }
  }
}

/// Brings `head` to the next event of its stream; false at the stream's end.
bool DirectoryReader::advance(Head& head) {
  TraceGraph& graph = *head.trace->graph;
  try {
    const bt_message* message = graph.front(head.stream);
    while (message != nullptr && bt_message_get_type(message) != BT_MESSAGE_TYPE_EVENT) {
      take_other(*head.trace, message);
      graph.pop(head.stream);
      message = graph.front(head.stream);
    }
    if (message != nullptr) {
      head.ns_from_origin = emission_time(message, head.ns_from_origin);
      return true;
    }
    if (!graph.stream_error(head.stream).empty()) {
      end_stream(head, graph.stream_error(head.stream));
    }
  } catch (const TraceError& error) {
    end_stream(head, error.what());
  }
  return false;
}

void DirectoryReader::end_stream(const Head& head, const std::string& problem) {
  missing_.push_back("stream " + std::to_string(head.stream) + " of the trace '" +
                     head.trace->summary.info.path + "' could be read only in part: " + problem);
}

const EventDecoder& DirectoryReader::decoder_for(OpenTrace& trace,
                                                 const bt_event_class* event_class) {
  const auto known = trace.decoders.find(event_class);
  if (known != trace.decoders.end()) {
    return known->second;
  }
  try {
    return trace.decoders.emplace(event_class, EventDecoder(event_class)).first->second;
  } catch (const TraceError& error) {
    missing_.push_back("cannot read the trace '" + trace.summary.info.path + "': " + error.what());
    return trace.decoders.emplace(event_class, EventDecoder()).first->second;
  }
}

void DirectoryReader::take_event(const Head& head, const bt_message* message) {
  TraceSummary& summary = head.trace->summary;
  const bt_event* event = bt_message_event_borrow_event_const(message);
  const EventDecoder& decoder = decoder_for(*head.trace, bt_event_borrow_class_const(event));
  ++summary.events;
  if (decoder.is_ours()) {
    ++summary.torchtrace_events;
    decoder.dispatch(summary.info, event, handler_);
  }
}

void DirectoryReader::take_other(OpenTrace& trace, const bt_message* message) {
  TraceSummary& summary = trace.summary;
  std::uint64_t count = 0;
  switch (bt_message_get_type(message)) {
    case BT_MESSAGE_TYPE_STREAM_BEGINNING:
      identify(trace, message);
      break;
    case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
      summary.discarded_unknown |= bt_message_discarded_events_get_count(message, &count) !=
                                   BT_PROPERTY_AVAILABILITY_AVAILABLE;
      summary.discarded_events += count;
      break;
    case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
      summary.discarded_unknown |= bt_message_discarded_packets_get_count(message, &count) !=
                                   BT_PROPERTY_AVAILABILITY_AVAILABLE;
      summary.discarded_packets += count;
      break;
    default:
      break;
  }
}

void DirectoryReader::identify(OpenTrace& trace, const bt_message* stream_beginning) {
  const bt_trace* bt_trace = bt_stream_borrow_trace_const(
      bt_message_stream_beginning_borrow_stream_const(stream_beginning));
  TraceInfo& info = trace.summary.info;
  info.host = environment_string(bt_trace, "hostname");
  info.tracer = environment_string(bt_trace, "tracer_name");
  info.host_id = host_ids_.emplace(info.host, host_ids_.size()).first->second;
}

}  // namespace

std::uint64_t ReadSummary::torchtrace_events() const {
  std::uint64_t sum = 0;
  for (const TraceSummary& trace : traces) {
    sum += trace.torchtrace_events;
  }
  return sum;
}

bool ReadSummary::lttng_discarded() const {
  return std::any_of(traces.begin(), traces.end(), [](const TraceSummary& trace) {
    return trace.discarded() && trace.info.tracer.rfind("lttng", 0) == 0;
  });
}

ReadSummary read_traces(const std::string& directory, EventHandler& handler) {
  bt_logging_set_global_level(BT_LOGGING_LEVEL_NONE);
  return DirectoryReader(handler).read(directory);
}

}  // namespace torchtrace::analysis
