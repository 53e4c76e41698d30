/* The one symbol that libtorchtrace-lttng.so exports: a table of functions, so that the agent needs
 * neither a link to lttng-ust nor its headers. The library is dlopen'ed by the flush thread once
 * PyTorch runs its first operator. */
#ifndef TORCHTRACE_FLUSH_LTTNG_PROVIDER_API_H
#define TORCHTRACE_FLUSH_LTTNG_PROVIDER_API_H

#include <signal.h>
#include <stdint.h>

#include "core/events.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TORCHTRACE_LTTNG_PROVIDER_VERSION 1
#define TORCHTRACE_LTTNG_PROVIDER_SYMBOL "torchtrace_lttng_provider_v1"

/* Members are only ever appended; `struct_size` says how many there are. */
struct torchtrace_lttng_provider {
  uint32_t version;
  uint32_t struct_size;
  /* emit_NAME: one tracepoint. enabled_NAME: nonzero while some session has the event enabled, at
   * the cost of a load and a branch. */
#define TORCHTRACE_PROVIDER_MEMBERS(NAME, name)         \
  void (*emit_##name)(const struct torchtrace_##name*); \
  int (*enabled_##name)(void);
  TORCHTRACE_EVENTS(TORCHTRACE_PROVIDER_MEMBERS)
#undef TORCHTRACE_PROVIDER_MEMBERS
  /* How many active sessions record operators. LTTng enables a tracepoint before the session
   * becomes active: what is emitted in between is in no trace. */
  int (*recording_sessions)(void);
  /* lttng_ust_before_fork and its two sisters; never called where liblttng-ust-fork is mapped. */
  void (*before_fork)(sigset_t* saved);
  void (*after_fork_parent)(sigset_t* saved);
  void (*after_fork_child)(sigset_t* saved);
};

typedef const struct torchtrace_lttng_provider* (*torchtrace_lttng_provider_fn)(void);

#ifdef __cplusplus
}
#endif

#endif
