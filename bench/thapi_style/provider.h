/* Two tracepoints with the operator's name, as THAPI's PyTorch backend has them: op_entry, op_exit.
 *
 * lttng-ust includes this file several times, each time with other meanings of its macros: hence
 * the unusual guard. Only provider.c includes it.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER torchtrace_bench_thapi

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "thapi_style/provider.h"

#if !defined(TORCHTRACE_BENCH_THAPI_STYLE_PROVIDER_H) || \
    defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TORCHTRACE_BENCH_THAPI_STYLE_PROVIDER_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(torchtrace_bench_thapi, op_entry,
                           LTTNG_UST_TP_ARGS(const char*, name_of_op),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_string(name, name_of_op)))
LTTNG_UST_TRACEPOINT_EVENT(torchtrace_bench_thapi, op_exit,
                           LTTNG_UST_TP_ARGS(const char*, name_of_op),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_string(name, name_of_op)))

#endif

/* Must stay outside the guard: it is what reads this file again. */
#include <lttng/tracepoint-event.h>
