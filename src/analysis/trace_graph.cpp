#include "analysis/trace_graph.h"

#include <algorithm>

#include "analysis/bt_error.h"
#include "analysis/trace_error.h"

namespace torchtrace::analysis {
namespace {

/// The version of the message interchange protocol that babeltrace2 2.0 and 2.1 both speak.
constexpr std::uint64_t kMipVersion = 0;

/// Throws an error for `status` of a libbabeltrace2 function that failed while doing `what`.
template <typename Status>
void check(Status status, const char* what) {
  if (static_cast<int>(status) != 0) {
    throw TraceError(std::string(what) + ": " + take_bt_error());
  }
}

void insert_string(bt_value* map, const char* key, const std::string& text) {
  check(bt_value_map_insert_string_entry(map, key, text.c_str()), "out of memory");
}

}  // namespace

CtfPlugin::CtfPlugin() {
  const bt_plugin* plugin = nullptr;
  const auto status = bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin);
  plugin_.reset(plugin);
  if (status != BT_PLUGIN_FIND_STATUS_OK || source_class() == nullptr) {
    bt_current_thread_clear_error();
    throw TraceError(
        "cannot find babeltrace2's plugin 'ctf', which reads traces; is libbabeltrace2 installed "
        "completely, and BABELTRACE_PLUGIN_PATH right?");
  }
}

const bt_component_class_source* CtfPlugin::source_class() const noexcept {
  return plugin_ ? bt_plugin_borrow_source_component_class_by_name_const(plugin_.get(), "fs")
                 : nullptr;
}

std::string CtfPlugin::trace_uuid(const std::string& folder) const {
  const ValueRef params(bt_value_map_create());
  insert_string(params.get(), "type", "directory");
  insert_string(params.get(), "input", folder);
  const QueryRef query(
      bt_query_executor_create(bt_component_class_source_as_component_class_const(source_class()),
                               "babeltrace.support-info", params.get()));
  const bt_value* answer = nullptr;
  check(bt_query_executor_query(query.get(), &answer), "cannot read its metadata");
  const ConstValueRef owner(answer);
  const bt_value* group = bt_value_map_borrow_entry_value_const(answer, "group");
  return group == nullptr ? "" : bt_value_string_get(group);
}

TraceGraph::TraceGraph(const CtfPlugin& plugin, const std::vector<std::string>& folders)
    : sink_class_(bt_component_class_sink_create("torchtrace", consume)),
      graph_(bt_graph_create(kMipVersion)) {
  if (!graph_ || !sink_class_) {
    throw TraceError("cannot set up libbabeltrace2: " + take_bt_error());
  }
  const bt_component_source* source = add_source(plugin, folders);
  streams_.resize(bt_component_source_get_output_port_count(source));
  if (!streams_.empty()) {  // A sink without inputs is not allowed in a graph.
    connect(source, add_sink());
  }
}

TraceGraph::~TraceGraph() {
  for (Stream& stream : streams_) {
    for (; stream.next < stream.count; ++stream.next) {
      bt_message_put_ref(stream.messages[stream.next]);
    }
  }
  streams_.clear();  // Iterators go before the graph they belong to.
}

const bt_component_source* TraceGraph::add_source(const CtfPlugin& plugin,
                                                  const std::vector<std::string>& folders) {
  const ValueRef params(bt_value_map_create());
  bt_value* inputs = nullptr;
  check(bt_value_map_insert_empty_array_entry(params.get(), "inputs", &inputs), "out of memory");
  for (const std::string& folder : folders) {
    check(bt_value_array_append_string_element(inputs, folder.c_str()), "out of memory");
  }
  const bt_component_source* source = nullptr;
  check(bt_graph_add_source_component(graph_.get(), plugin.source_class(), "trace", params.get(),
                                      BT_LOGGING_LEVEL_NONE, &source),
        "cannot open it");
  return source;
}

const bt_component_sink* TraceGraph::add_sink() {
  check(bt_component_class_sink_set_initialize_method(sink_class_.get(), initialize_sink),
        "cannot set up libbabeltrace2");
  check(bt_component_class_sink_set_graph_is_configured_method(sink_class_.get(), create_iterators),
        "cannot set up libbabeltrace2");
  const bt_component_sink* sink = nullptr;
  check(bt_graph_add_sink_component_with_initialize_method_data(
            graph_.get(), sink_class_.get(), "events", nullptr, this, BT_LOGGING_LEVEL_NONE, &sink),
        "cannot set up libbabeltrace2");
  return sink;
}

void TraceGraph::connect(const bt_component_source* source, const bt_component_sink* sink) {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    check(bt_graph_connect_ports(
              graph_.get(), bt_component_source_borrow_output_port_by_index_const(source, i),
              bt_component_sink_borrow_input_port_by_index_const(sink, i), nullptr),
          "cannot set up libbabeltrace2");
  }
}

bt_component_class_initialize_method_status TraceGraph::initialize_sink(
    bt_self_component_sink* sink, bt_self_component_sink_configuration* /*configuration*/,
    const bt_value* /*params*/, void* graph) noexcept {
  auto* self = static_cast<TraceGraph*>(graph);
  bt_self_component_set_data(bt_self_component_sink_as_self_component(sink), self);
  for (std::size_t i = 0; i < self->streams_.size(); ++i) {
    const std::string name = "in" + std::to_string(i);
    if (bt_self_component_sink_add_input_port(sink, name.c_str(), nullptr, nullptr) !=
        BT_SELF_COMPONENT_ADD_PORT_STATUS_OK) {
      return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
    }
  }
  return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

bt_component_class_sink_graph_is_configured_method_status TraceGraph::create_iterators(
    bt_self_component_sink* sink) noexcept {
  auto* self = static_cast<TraceGraph*>(
      bt_self_component_get_data(bt_self_component_sink_as_self_component(sink)));
  for (std::size_t i = 0; i < self->streams_.size(); ++i) {
    bt_message_iterator* iterator = nullptr;
    if (bt_message_iterator_create_from_sink_component(
            sink, bt_self_component_sink_borrow_input_port_by_index(sink, i), &iterator) !=
        BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK) {
      return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
    }
    self->streams_[i].iterator.reset(iterator);
  }
  return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

bt_component_class_sink_consume_method_status TraceGraph::consume(
    bt_self_component_sink* sink) noexcept {
  auto* self = static_cast<TraceGraph*>(
      bt_self_component_get_data(bt_self_component_sink_as_self_component(sink)));
  Stream& stream = *self->wanted_;
  const auto status =
      bt_message_iterator_next(stream.iterator.get(), &stream.messages, &stream.count);
  stream.next = 0;
  if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_OK) {
    return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
  }
  stream.count = 0;
  if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN) {
    return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_AGAIN;
  }
  // An error ends this stream alone: a graph whose sink fails once does not run again.
  stream.ended = true;
  if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
    stream.error = take_bt_error();
  }
  return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
}

bool TraceGraph::refill(Stream& stream) {
  wanted_ = &stream;
  while (!stream.ended && stream.next >= stream.count) {
    check(std::min<int>(bt_graph_run_once(graph_.get()), 0), "cannot read it");
  }
  return stream.next < stream.count;
}

}  // namespace torchtrace::analysis
