#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/events.h"

/// What one packet and one event look like in a stream file of the built-in CTF sink. The
/// serializer (packet.cpp) and the metadata that describes it (metadata.cpp) are both made from
/// this file and from the field lists of core/events.h, so they cannot drift apart.
/// Layout: docs/trace-format.md, "The built-in CTF sink". All fields are byte-aligned, native
/// order.
namespace torchtrace::flush {

using CtfUuid = std::array<std::uint8_t, 16>;

/// One packet is one page: a write() of whole pages is cut between pages only, whatever cuts it
/// (SIGKILL, a full disk), so no reader ever meets half a packet.
inline constexpr std::size_t kCtfPacketBytes = 4096;

/// Source: CTF 1.8.3 specification, section 5.2.
inline constexpr std::uint32_t kCtfMagic = 0xC1FC1FC1U;

/// First bytes of each packet: `trace.packet.header`.
struct CtfPacketHeader {
  std::uint32_t magic;
  CtfUuid uuid;
  std::uint32_t stream_id;           ///< Class of the stream: always 0.
  std::uint64_t stream_instance_id;  ///< Always 0: all files of a trace are one stream.
};
static_assert(sizeof(CtfPacketHeader) == 32, "no padding: copied into the packet as it is");

/// Follows the header: `stream.packet.context`. Sizes are in bits, times in ns.
struct CtfPacketContext {
  std::uint64_t timestamp_begin;
  std::uint64_t timestamp_end;
  std::uint64_t content_size;
  std::uint64_t packet_size;
  std::uint64_t packet_seq_num;
  std::uint64_t events_discarded;  ///< Of this stream so far; stock readers report the increase.
};
static_assert(sizeof(CtfPacketContext) == 48, "no padding: copied into the packet as it is");

inline constexpr std::size_t kCtfPacketPrologueBytes =
    sizeof(CtfPacketHeader) + sizeof(CtfPacketContext);

/// `stream.event.header`: {u8 id; u64 timestamp}.
inline constexpr std::size_t kCtfEventHeaderBytes = 1 + 8;

/// A greater time stamp (146 years of uptime) is not taken over into an event's header: babeltrace2
/// stops at one that, counted from the Unix epoch, does not fit into a signed number.
inline constexpr std::uint64_t kCtfMaxTimestampNs = std::uint64_t{1} << 62U;

/// Events by id: their order in `TORCHTRACE_EVENTS`.
enum class CtfEventId : std::uint8_t {
#define TORCHTRACE_CTF_ID(NAME, name) k_##name,
  TORCHTRACE_EVENTS(TORCHTRACE_CTF_ID)
#undef TORCHTRACE_CTF_ID
};

/// Bytes of a field whatever its value: a string has at least its terminator.
template <typename Field>
constexpr std::size_t ctf_fixed_bytes() noexcept {
  return std::is_same_v<Field, const char*> ? 1 : sizeof(Field);
}

/// What is known of an event type at compile time, and a way to visit its fields in order.
template <typename Event>
struct CtfEvent;

#define TORCHTRACE_CTF_ADD_BYTES(kind, name) +ctf_fixed_bytes<TORCHTRACE_CTYPE_##kind>()
#define TORCHTRACE_CTF_ADD_STRING(kind, name) +std::is_same_v<TORCHTRACE_CTYPE_##kind, const char*>
#define TORCHTRACE_CTF_VISIT(kind, name) visit(#name, event.name);
#define TORCHTRACE_CTF_EVENT(NAME, event_name)                                          \
  template <>                                                                           \
  struct CtfEvent<torchtrace_##event_name> {                                            \
    static constexpr CtfEventId kId = CtfEventId::k_##event_name;                       \
    static constexpr const char* kName = "torchtrace:" #event_name;                     \
    static constexpr std::size_t kStrings =                                             \
        std::size_t{0} TORCHTRACE_FIELDS_##NAME(TORCHTRACE_CTF_ADD_STRING);             \
    static constexpr std::size_t kFixedBytes =                                          \
        kCtfEventHeaderBytes TORCHTRACE_FIELDS_##NAME(TORCHTRACE_CTF_ADD_BYTES);        \
    template <typename Visitor>                                                         \
    static void for_each_field(const torchtrace_##event_name& event, Visitor&& visit) { \
      TORCHTRACE_FIELDS_##NAME(TORCHTRACE_CTF_VISIT)                                    \
    }                                                                                   \
  };
TORCHTRACE_EVENTS(TORCHTRACE_CTF_EVENT)
#undef TORCHTRACE_CTF_EVENT
#undef TORCHTRACE_CTF_VISIT
#undef TORCHTRACE_CTF_ADD_STRING
#undef TORCHTRACE_CTF_ADD_BYTES

/// A string is cut to this many bytes, without its terminator.
inline constexpr std::size_t kCtfMaxStringBytes = 1024;

/// Set aside, while one string of an event is written, for each string after it.
inline constexpr std::size_t kCtfStringShareBytes = 128;

/// Bytes that all strings of an event together may take, without their terminators: with them the
/// event just fits into an empty packet.
template <typename Event>
inline constexpr std::size_t kCtfStringRoomBytes =
    kCtfPacketBytes - kCtfPacketPrologueBytes - CtfEvent<Event>::kFixedBytes;

#define TORCHTRACE_CTF_CHECK(NAME, name)                                              \
  static_assert(kCtfStringRoomBytes<torchtrace_##name> <= kCtfPacketBytes &&          \
                    kCtfStringRoomBytes<torchtrace_##name> >=                         \
                        CtfEvent<torchtrace_##name>::kStrings * kCtfStringShareBytes, \
                "every event fits into one packet with a useful part of each string");
TORCHTRACE_EVENTS(TORCHTRACE_CTF_CHECK)
#undef TORCHTRACE_CTF_CHECK

}  // namespace torchtrace::flush
