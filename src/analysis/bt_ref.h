#pragma once

#include <babeltrace2/babeltrace.h>

#include <memory>

namespace torchtrace::analysis {

/// Puts back one reference to a libbabeltrace2 object.
template <auto PutRef>
struct BtPutRef {
  template <typename Object>
  void operator()(Object* object) const noexcept {
    PutRef(object);
  }
};

/// Owning references: one `put_ref` each, at the end of the scope.
using GraphRef = std::unique_ptr<bt_graph, BtPutRef<bt_graph_put_ref>>;
using PluginRef = std::unique_ptr<const bt_plugin, BtPutRef<bt_plugin_put_ref>>;
using ValueRef = std::unique_ptr<bt_value, BtPutRef<bt_value_put_ref>>;
using ConstValueRef = std::unique_ptr<const bt_value, BtPutRef<bt_value_put_ref>>;
using QueryRef = std::unique_ptr<bt_query_executor, BtPutRef<bt_query_executor_put_ref>>;
using IteratorRef = std::unique_ptr<bt_message_iterator, BtPutRef<bt_message_iterator_put_ref>>;
using SinkClassRef =
    std::unique_ptr<bt_component_class_sink, BtPutRef<bt_component_class_sink_put_ref>>;

}  // namespace torchtrace::analysis
