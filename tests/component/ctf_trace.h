#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/events.h"
#include "flush/ctf/layout.h"

namespace torchtrace::flush {

/// What the stream files of one trace hold, read packet by packet as docs/trace-format.md has it.
struct CtfTrace {
  std::vector<CtfPacketContext> packets;
  std::uint64_t events = 0;
  std::uint64_t operators = 0;          ///< `op`, and `op_end` with outcome ended.
  std::vector<std::uint8_t> first_ids;  ///< Of each file: its first event, as a CtfEventId.
  std::vector<torchtrace_receipt> receipts;

  /// True if packets are numbered without a gap and time stamps never go backwards.
  bool is_continuous() const;
};

/// Reads all stream files of `folder`, in the stream's order. Throws std::runtime_error for what is
/// not made of whole, valid packets.
CtfTrace read_ctf_trace(const std::string& folder);

}  // namespace torchtrace::flush
