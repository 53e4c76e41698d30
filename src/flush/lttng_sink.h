#pragma once

#include <memory>
#include <string>

#include "flush/lttng_provider_api.h"
#include "flush/sink.h"

namespace torchtrace::flush {

/// Loads `libtorchtrace-lttng.so` from `path`; nullptr and a sentence in `error` where it or
/// lttng-ust cannot be had. Never unloaded.
/// What is loaded already, by the process that this one was forked from say, is not loaded again.
/// Thread: the flush thread. Takes the loader lock; LTTNG_UST_REGISTER_TIMEOUT must be 0 by then.
const torchtrace_lttng_provider* load_lttng_provider(const std::string& path,
                                                     std::string& error) noexcept;

/// What `load_lttng_provider` has loaded into this process, or into the one that it was forked
/// from; nullptr before that. For the fork handlers. Thread: any.
const torchtrace_lttng_provider* loaded_lttng_provider() noexcept;

/// From now on this process does without LTTng, loaded or not. For a child that was forked while
/// another thread of its parent was inside the loader, which it left half way: lttng-ust and the
/// loading of it call dlopen, and that would end the child.
void give_up_lttng() noexcept;

/// True while some active session records operators: has `op`, `op_begin` or `op_end` enabled.
bool lttng_session_records(const torchtrace_lttng_provider& provider) noexcept;

/// Sink that turns each event into a tracepoint of provider `torchtrace`.
///
/// Sessions come and go at any time; the sink looks for them when it is made and at each end of a
/// period, and sends operators from then on. Operators handed in while no session records their
/// event count as `lost_elsewhere`. So do, once a session records after none did, those that were
/// `written` before: they stand in another trace. (Sessions that record at the same time share one
/// count, from the first one's start.) What LTTng itself discards, its buffers being full, counts
/// as `written` here: only the reader knows, from LTTng's own counters.
/// `wants_state()` is true once each time a session newly records, others being there or not.
/// Thread: the flush thread. Errors: nullptr if out of memory.
std::unique_ptr<Sink> make_lttng_sink(const torchtrace_lttng_provider& provider) noexcept;

}  // namespace torchtrace::flush
