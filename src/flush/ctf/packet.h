#pragma once

#include <cstddef>
#include <cstdint>

#include "flush/ctf/layout.h"

namespace torchtrace::flush {

/// Fills one packet (one page of memory, owned by the caller) with events.
///
/// Thread: one. Errors: never throws, never allocates.
class CtfPacket {
 public:
  /// Starts an empty packet on `page`, which has `kCtfPacketBytes`.
  void begin(std::byte* page) noexcept;

  /// Appends one event with the time stamp `header_ts_ns` in its header.
  /// Strings: null and empty ones become "unknown" (babeltrace2 2.0 shows the previous event's
  /// value for an empty one); what is not UTF-8 is replaced, what is too long is cut (layout.h).
  /// Returns false, with the packet as before, if there is no room; an empty packet has room for
  /// any event.
  template <typename Event>
  bool append(const Event& event, std::uint64_t header_ts_ns) noexcept;

  /// Writes the header and the context and zeroes the rest of the page; it is then ready to be
  /// written to a file. An empty packet may be finished too.
  void finish(const CtfUuid& uuid, std::uint64_t sequence_number,
              std::uint64_t events_discarded) noexcept;

  /// Goes on with a copy of the page, which the caller has made.
  void move_to(std::byte* page) noexcept { page_ = page; }

  bool empty() const noexcept { return used_bytes_ == kCtfPacketPrologueBytes; }

 private:
  std::byte* page_ = nullptr;
  std::size_t used_bytes_ = kCtfPacketPrologueBytes;
  std::uint64_t first_ts_ns_ = 0;
  std::uint64_t last_ts_ns_ = 0;
};

}  // namespace torchtrace::flush
