/* The events of provider `torchtrace`: one list of fields from which the LTTng provider, the
 * built-in CTF sink and its metadata are all made, so that a trace holds the same events whichever
 * sink wrote it. Plain C, since lttng-ust's probe macros are compiled as C.
 *
 * Contract of every event (docs/trace-format.md):
 *  - `ts` is CLOCK_MONOTONIC in ns: the start for op and op_begin, the end for op_end, the moment
 *    for the rest. The event's own time stamp is the flush thread's under LTTng.
 *  - `pid` is in the payload because per-UID buffers mix processes and a session may lack
 *    the context.
 *  - No string is ever empty: babeltrace2 2.0 shows the previous event's value for one.
 *
 * A field is X(kind, name), kind one of u8 u16 u32 u64 i64 str.
 */
#ifndef TORCHTRACE_CORE_EVENTS_H
#define TORCHTRACE_CORE_EVENTS_H

#include <stdint.h>

/* Version of what this file and docs/trace-format.md describe, kept apart from the library's: one
 * more with each change that a reader has to know of. In the metadata of the built-in CTF sink. */
#define TORCHTRACE_TRACE_FORMAT 1

/* How an op_begin was closed: `outcome` of op_end. Readers leave out pairs that were filtered. */
#define TORCHTRACE_OUTCOME_ENDED 0
#define TORCHTRACE_OUTCOME_DROPPED 1
#define TORCHTRACE_OUTCOME_FILTERED 2
#define TORCHTRACE_OUTCOME_ABANDONED 3

/* At start, and again each second: a session may begin at any time. Unknown strings: "unknown". */
#define TORCHTRACE_FIELDS_PROCESS(X)                                          \
  X(u64, ts)                                                                  \
  X(u32, pid)                                                                 \
  X(u64, start_time) /* clock ticks since boot, field 22 of /proc/PID/stat */ \
  X(i64, rank)       /* -1: none known */                                     \
  X(i64, world_size) /* -1: none known */                                     \
  X(str, host)                                                                \
  X(str, command)                                                             \
  X(str, torch_version)                                                       \
  X(str, torch_path)                                                          \
  X(str, torch_layout) /* what the run-time ABI check found, in words */      \
  X(str, agent_version)                                                       \
  X(str, config_digest) /* of all effective values */                         \
  X(str, clock)         /* "tsc" or "monotonic" */                            \
  X(u64, clock_hz)                                                            \
  X(u64, anchor_ticks)                                                        \
  X(u64, anchor_monotonic_ns)                                                 \
  X(u64, anchor_monotonic_raw_ns)                                             \
  X(u64, anchor_realtime_ns)                                                  \
  X(u64, hold_ns)                                                             \
  X(u64, period_ns)

/* At a thread's first operator, and again each second while it records. */
#define TORCHTRACE_FIELDS_THREAD(X)                                         \
  X(u64, ts)                                                                \
  X(u32, pid)                                                               \
  X(u32, tid)                                                               \
  X(u32, slot)                                                              \
  X(u64, torch_thread) /* PyTorch's own number: 1, 2, 3 ... by first use */ \
  X(str, name)

/* An operator that ended within the hold. */
#define TORCHTRACE_FIELDS_OP(X)                                                   \
  X(u64, ts)                                                                      \
  X(u64, dur)                                                                     \
  X(u32, pid)                                                                     \
  X(u32, tid)                                                                     \
  X(u32, end_tid) /* another one than tid for an asynchronous scope */            \
  X(u64, op_id)                                                                   \
  X(u64, parent)     /* op_id of the nearest recorded operator around it, or 0 */ \
  X(i64, seq)        /* autograd sequence number, -1: none */                     \
  X(u64, fwd_thread) /* with seq the link backward -> forward; 0: none */         \
  X(u32, commands)   /* GPU commands launched under it */                         \
  X(u16, depth)                                                                   \
  X(u8, scope)                                                                    \
  X(u8, flags)                                                                    \
  X(str, name)

/* An operator still open when the watermark passed its start; exactly one op_end follows, unless
 * the process ends first. */
#define TORCHTRACE_FIELDS_OP_BEGIN(X) \
  X(u64, ts)                          \
  X(u32, pid)                         \
  X(u32, tid)                         \
  X(u64, op_id)                       \
  X(u64, parent)                      \
  X(u16, depth)                       \
  X(u8, scope)                        \
  X(u8, flags)                        \
  X(str, name)

#define TORCHTRACE_FIELDS_OP_END(X)         \
  X(u64, ts)                                \
  X(u64, dur)                               \
  X(u32, pid)                               \
  X(u32, tid)                               \
  X(u32, end_tid)                           \
  X(u64, op_id)                             \
  X(u64, parent)                            \
  X(i64, seq)                               \
  X(u64, fwd_thread)                        \
  X(u32, commands)                          \
  X(u16, depth)                             \
  X(u8, scope)                              \
  X(u8, flags)                              \
  X(u8, outcome) /* TORCHTRACE_OUTCOME_* */ \
  X(str, name)

/* When records are lost; a reason is one of the receipt's `dropped_*` and `lost_*` fields. */
#define TORCHTRACE_FIELDS_LOSS(X)                                       \
  X(u64, ts)                                                            \
  X(u32, pid)                                                           \
  X(u32, tid)                                                           \
  X(str, reason)                                                        \
  X(u64, count)                                                         \
  X(u64, first) /* op count of the thread at the first and last loss */ \
  X(u64, last)

/* At the end, and each second; counts from the start of the process.
 *   started  = recorded + filtered + sampled_out + sum dropped_* + open + settling
 *   recorded = written + sum lost_*
 * The last one (final = 1) is exact and has settling = 0. That of a flight recorder's dump counts
 * from the dump before, what was open at that one as started anew. */
#define TORCHTRACE_FIELDS_RECEIPT(X)                                                              \
  X(u64, ts)                                                                                      \
  X(u32, pid)                                                                                     \
  X(u8, final)                                                                                    \
  X(u64, started)                                                                                 \
  X(u64, recorded)                                                                                \
  X(u64, filtered)                                                                                \
  X(u64, sampled_out)                                                                             \
  X(u64, dropped_ring_full)                                                                       \
  X(u64, dropped_too_deep)  /* more operators open on one thread than the stack holds */          \
  X(u64, dropped_no_scope)  /* more user scopes open on one thread than its table holds */        \
  X(u64, dropped_no_buffer) /* a thread for which no buffer could be had */                       \
  X(u64, dropped_abandoned) /* stale frame, or ended where it did not start */                    \
  X(u64, open)                                                                                    \
  X(i64, settling)                                                                                \
  X(u64, inherited) /* ends of operators that a forked child did not start */                     \
  X(u64, late)                                                                                    \
  X(u64, written) /* op events + op_end events with outcome ended, here */                        \
  X(u64, lost_disk_full)                                                                          \
  X(u64, lost_rotated_out)                                                                        \
  X(u64, lost_elsewhere)        /* sent to another sink, or before this session began */          \
  X(u64, names_overflowed)      /* operators whose name did not fit into the name table */        \
  X(u64, clock_error_ns)        /* worst interpolation error between anchors so far */            \
  X(u64, dropped_block_timeout) /* its thread waited for room in its ring, in vain */             \
  X(u64, dropped_overwritten)   /* by newer ones, as buffer.policy = "overwrite_oldest" has it */ \
  X(u64, lost_killed)           /* drained, and died with the process: `torchtrace recover` */    \
  X(u64, clock_stepped)         /* operators with an estimated time: the counter turned bad */

#define TORCHTRACE_CTYPE_u8 uint8_t
#define TORCHTRACE_CTYPE_u16 uint16_t
#define TORCHTRACE_CTYPE_u32 uint32_t
#define TORCHTRACE_CTYPE_u64 uint64_t
#define TORCHTRACE_CTYPE_i64 int64_t
#define TORCHTRACE_CTYPE_str const char*
#define TORCHTRACE_MEMBER(kind, name) TORCHTRACE_CTYPE_##kind name;

struct torchtrace_process {
  TORCHTRACE_FIELDS_PROCESS(TORCHTRACE_MEMBER)
};
struct torchtrace_thread {
  TORCHTRACE_FIELDS_THREAD(TORCHTRACE_MEMBER)
};
struct torchtrace_op {
  TORCHTRACE_FIELDS_OP(TORCHTRACE_MEMBER)
};
struct torchtrace_op_begin {
  TORCHTRACE_FIELDS_OP_BEGIN(TORCHTRACE_MEMBER)
};
struct torchtrace_op_end {
  TORCHTRACE_FIELDS_OP_END(TORCHTRACE_MEMBER)
};
struct torchtrace_loss {
  TORCHTRACE_FIELDS_LOSS(TORCHTRACE_MEMBER)
};
struct torchtrace_receipt {
  TORCHTRACE_FIELDS_RECEIPT(TORCHTRACE_MEMBER)
};

/* All events: E(NAME, name). The order is the event id in the built-in CTF sink: append only. */
#define TORCHTRACE_EVENTS(E) \
  E(PROCESS, process)        \
  E(THREAD, thread)          \
  E(OP, op)                  \
  E(OP_BEGIN, op_begin)      \
  E(OP_END, op_end)          \
  E(LOSS, loss)              \
  E(RECEIPT, receipt)

#endif
