#pragma once

#include <memory>
#include <string>

#include "flush/lttng_provider_api.h"
#include "flush/sink.h"

namespace torchtrace::flush {

/// Loads `libtorchtrace-lttng.so` from `path`; nullptr and a sentence in `error` where it or
/// lttng-ust cannot be had. Never unloaded.
/// Thread: the flush thread. Takes the loader lock; LTTNG_UST_REGISTER_TIMEOUT must be 0 by then.
const torchtrace_lttng_provider* load_lttng_provider(const std::string& path,
                                                     std::string& error) noexcept;

/// True while some session has at least `op` or `op_begin` enabled.
bool lttng_session_records(const torchtrace_lttng_provider& provider) noexcept;

/// Sink that turns each event into a tracepoint of provider `torchtrace`.
/// Operators handed in while no session has their event enabled count as `lost_elsewhere`.
/// `wants_state()` is true once each time a session newly enables the events.
std::unique_ptr<Sink> make_lttng_sink(const torchtrace_lttng_provider& provider) noexcept;

}  // namespace torchtrace::flush
