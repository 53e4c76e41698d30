#pragma once

/* The two tracepoints as functions: lttng-ust's macros are C with extensions. */
#ifdef __cplusplus
extern "C" {
#endif

void torchtrace_bench_thapi_entry(const char* name);
void torchtrace_bench_thapi_exit(const char* name);

/* Whether a session has enabled both. */
int torchtrace_bench_thapi_enabled(void);

#ifdef __cplusplus
}
#endif
