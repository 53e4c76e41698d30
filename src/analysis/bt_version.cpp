#include "analysis/bt_version.h"

#include "analysis/trace_graph.h"

namespace torchtrace::analysis {

std::string usable_babeltrace_version() {
  const CtfPlugin plugin;
  return std::to_string(bt_version_get_major()) + '.' + std::to_string(bt_version_get_minor()) +
         '.' + std::to_string(bt_version_get_patch());
}

}  // namespace torchtrace::analysis
