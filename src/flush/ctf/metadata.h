#pragma once

#include <cstdint>
#include <string>

#include "flush/ctf/layout.h"

namespace torchtrace::flush {

/// CLOCK_MONOTONIC as the metadata has to state it for readers to merge traces of one machine.
struct CtfClock {
  std::string boot_id;         ///< Text form of a UUID, which names the clock; empty: unknown.
  std::int64_t offset_ns = 0;  ///< CLOCK_REALTIME minus CLOCK_MONOTONIC.
};

/// Reads the clock's identity and offset the way lttng-ust does (the boot's id; the sample of
/// several with the least time between the two reads of CLOCK_MONOTONIC around it), so that
/// babeltrace2 lines our traces up with LTTng's.
/// Source: lttng-tools 2.13, src/bin/lttng-sessiond/ust-metadata.c, measure_clock_offset.
/// Thread: any. Errors: never throws but for want of memory; an unreadable id is left empty.
CtfClock read_ctf_clock();

/// What only run time knows of a trace.
struct CtfTraceIdentity {
  CtfUuid uuid{};
  CtfClock clock;
  std::string host;
  std::string trace_name;
  std::string process_name;
  std::uint32_t pid = 0;
};

/// Returns a random UUID (version 4). Where the kernel gives no random bytes it is made from clocks
/// and process id, so that it still differs from process to process.
CtfUuid make_ctf_uuid() noexcept;

/// Returns the host's name, the process's name and its id, with a new UUID and the clock.
CtfTraceIdentity describe_this_process(const std::string& trace_name);

/// Returns the TSDL text (CTF 1.8) that describes every packet and event of the trace.
std::string ctf_metadata(const CtfTraceIdentity& identity);

}  // namespace torchtrace::flush
