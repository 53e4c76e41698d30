// What THAPI's PyTorch backend does per operator, for comparison: two tracepoints with the name, on
// the operator's own thread. Source: argonne-lcf/THAPI pull request 540, tracer_pytorch.cpp.
#include "observer/torch_abi.h"
#include "thapi_style/events.h"

namespace torchtrace::bench {

namespace {

using observer::RecordFunction;

observer::GetName g_name = nullptr;

std::unique_ptr<observer::ObserverContext> on_start(const RecordFunction& event) {
  torchtrace_bench_thapi_entry(g_name(&event));
  return nullptr;
}

void on_end(const RecordFunction& event, observer::ObserverContext* /*unused*/) {
  torchtrace_bench_thapi_exit(g_name(&event));
}

}  // namespace

/// Fills `callback`; `name` is PyTorch's `RecordFunction::name`. Returns 0 as long as no session
/// has enabled the events, which a thread of lttng-ust's own finds out.
extern "C" __attribute__((visibility("default"))) int torchtrace_bench_thapi_callback(
    observer::GetName name, observer::RecordFunctionCallback* callback) {
  g_name = name;
  *callback = {};
  callback->start = on_start;
  callback->end = on_end;
  callback->sampling_probability = 1.0;
  for (const core::Scope scope : {core::Scope::kFunction, core::Scope::kBackwardFunction}) {
    callback->scopes[static_cast<std::size_t>(scope)] = true;
  }
  return torchtrace_bench_thapi_enabled();
}

}  // namespace torchtrace::bench
