#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "thapi_style/provider.h"

#include "thapi_style/events.h"

void torchtrace_bench_thapi_entry(const char* name) {
  lttng_ust_tracepoint(torchtrace_bench_thapi, op_entry, name);
}

void torchtrace_bench_thapi_exit(const char* name) {
  lttng_ust_tracepoint(torchtrace_bench_thapi, op_exit, name);
}

int torchtrace_bench_thapi_enabled(void) {
  return lttng_ust_tracepoint_enabled(torchtrace_bench_thapi, op_entry) &&
         lttng_ust_tracepoint_enabled(torchtrace_bench_thapi, op_exit);
}
