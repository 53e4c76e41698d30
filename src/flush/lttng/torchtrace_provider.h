/* LTTng-UST tracepoint provider `torchtrace`: one tracepoint per event of core/events.h, with the
 * same fields under the same names and types, so that an LTTng trace and one of the built-in CTF
 * sink differ in nothing but their headers.
 *
 * lttng-ust includes this file several times, each time with other meanings of its macros: hence
 * the unusual guard. Only torchtrace_provider.c includes it.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER torchtrace

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "flush/lttng/torchtrace_provider.h"

#if !defined(TORCHTRACE_FLUSH_LTTNG_TORCHTRACE_PROVIDER_H) || \
    defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TORCHTRACE_FLUSH_LTTNG_TORCHTRACE_PROVIDER_H

#include <lttng/tracepoint.h>
#include <stdint.h>

#include "core/events.h"

/* A field X(kind, name) of core/events.h as a field of the tracepoint, whose one argument is
 * `event`. */
#define TORCHTRACE_LTTNG_FIELD_u8(name) lttng_ust_field_integer(uint8_t, name, event->name)
#define TORCHTRACE_LTTNG_FIELD_u16(name) lttng_ust_field_integer(uint16_t, name, event->name)
#define TORCHTRACE_LTTNG_FIELD_u32(name) lttng_ust_field_integer(uint32_t, name, event->name)
#define TORCHTRACE_LTTNG_FIELD_u64(name) lttng_ust_field_integer(uint64_t, name, event->name)
#define TORCHTRACE_LTTNG_FIELD_i64(name) lttng_ust_field_integer(int64_t, name, event->name)
#define TORCHTRACE_LTTNG_FIELD_str(name) lttng_ust_field_string(name, event->name)
#define TORCHTRACE_LTTNG_FIELD(kind, name) TORCHTRACE_LTTNG_FIELD_##kind(name)

#define TORCHTRACE_LTTNG_EVENT(NAME, name)                                         \
  LTTNG_UST_TRACEPOINT_EVENT(                                                      \
      torchtrace, name, LTTNG_UST_TP_ARGS(const struct torchtrace_##name*, event), \
      LTTNG_UST_TP_FIELDS(TORCHTRACE_FIELDS_##NAME(TORCHTRACE_LTTNG_FIELD)))

TORCHTRACE_EVENTS(TORCHTRACE_LTTNG_EVENT)

#endif

/* Must stay outside the guard: it is what reads this file again. */
#include <lttng/tracepoint-event.h>
