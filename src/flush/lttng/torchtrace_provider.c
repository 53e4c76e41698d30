/* Probes of the provider and the table through which the agent reaches them. The only file that is
 * compiled against lttng-ust. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "flush/lttng/torchtrace_provider.h"

#include <lttng/ust-events.h>
#include <lttng/ust-fork.h>

#include "flush/lttng_provider_api.h"

#define TORCHTRACE_EXPORT __attribute__((visibility("default")))

/* True if `probe`, one consumer of a tracepoint, is an event rule of a session that records now:
 * the same conditions, in the same order, as those which lttng-ust's generated probe tests before
 * it writes. `lttng_ust_tracepoint_enabled` alone says yes too early: a tracepoint is switched on
 * first, then LTTng talks to the session daemon, and only then the session becomes active; what is
 * emitted in between is in no trace. */
static int records(const struct lttng_ust_tracepoint_probe* probe) {
  const struct lttng_ust_event_common* event = probe->data;
  if (event->type != LTTNG_UST_EVENT_TYPE_RECORDER) {
    return 0; /* a trigger's notifier */
  }
  const struct lttng_ust_event_recorder* recorder = event->child;
  const struct lttng_ust_channel_common* channel = recorder->chan->parent;
  return CMM_ACCESS_ONCE(channel->session->active) && CMM_ACCESS_ONCE(channel->enabled) &&
         CMM_ACCESS_ONCE(event->enabled);
}

/* How many event rules record `tracepoint` now. The list of probes is walked as the tracepoint
 * itself does it: under lttng-ust's read lock, up to the entry without a function. */
static int count_recorders(const struct lttng_ust_tracepoint* tracepoint) {
  int count = 0;
  if (!LTTNG_UST_TP_RCU_LINK_TEST()) {
    return 0;
  }
  lttng_ust_tp_rcu_read_lock();
  const struct lttng_ust_tracepoint_probe* probe = lttng_ust_tp_rcu_dereference(tracepoint->probes);
  for (; probe != NULL && probe->func != NULL; ++probe) {
    count += records(probe);
  }
  lttng_ust_tp_rcu_read_unlock();
  return count;
}

#define TORCHTRACE_PROVIDER_FUNCTIONS(NAME, name)                  \
  static void emit_##name(const struct torchtrace_##name* event) { \
    lttng_ust_tracepoint(torchtrace, name, event);                 \
  }                                                                \
  static int enabled_##name(void) { return lttng_ust_tracepoint_enabled(torchtrace, name); }
TORCHTRACE_EVENTS(TORCHTRACE_PROVIDER_FUNCTIONS)

/* A session may have only some of the events that carry operators. */
static int recording_sessions(void) {
  const int ops = count_recorders(&lttng_ust_tracepoint_torchtrace___op);
  const int begins = count_recorders(&lttng_ust_tracepoint_torchtrace___op_begin);
  const int ends = count_recorders(&lttng_ust_tracepoint_torchtrace___op_end);
  const int most = ops > begins ? ops : begins;
  return most > ends ? most : ends;
}

static const struct torchtrace_lttng_provider kProvider = {
    .version = TORCHTRACE_LTTNG_PROVIDER_VERSION,
    .struct_size = sizeof(struct torchtrace_lttng_provider),
#define TORCHTRACE_PROVIDER_ENTRIES(NAME, name) \
  .emit_##name = emit_##name, .enabled_##name = enabled_##name,
    TORCHTRACE_EVENTS(TORCHTRACE_PROVIDER_ENTRIES)
#undef TORCHTRACE_PROVIDER_ENTRIES
        .recording_sessions = recording_sessions,
    .before_fork = lttng_ust_before_fork,
    .after_fork_parent = lttng_ust_after_fork_parent,
    .after_fork_child = lttng_ust_after_fork_child,
};

TORCHTRACE_EXPORT const struct torchtrace_lttng_provider* torchtrace_lttng_provider_v1(void) {
  return &kProvider;
}
