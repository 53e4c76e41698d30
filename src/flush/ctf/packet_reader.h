#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "flush/ctf/layout.h"

/// Reads back what packet.cpp has written: recovery looks up what a killed program's own trace
/// holds. Not a CTF reader: it knows this one layout. Reads nothing outside the page, whatever that
/// holds.
namespace torchtrace::flush {

/// Takes fields from a range of bytes.
class CtfFieldReader {
 public:
  CtfFieldReader(const std::byte* begin, const std::byte* end) noexcept : at_(begin), end_(end) {}

  template <typename Integer>
  bool take(Integer& value) noexcept {
    if (static_cast<std::size_t>(end_ - at_) < sizeof value) return false;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return true;
  }

  /// `text` then points into the page.
  bool take(const char*& text) noexcept {
    const void* nul = std::memchr(at_, 0, static_cast<std::size_t>(end_ - at_));
    if (nul == nullptr) return false;
    text = reinterpret_cast<const char*>(at_);
    at_ = static_cast<const std::byte*>(nul) + 1;
    return true;
  }

  bool at_end() const noexcept { return at_ == end_; }

 private:
  const std::byte* at_;
  const std::byte* end_;
};

#define TORCHTRACE_CTF_TAKE(kind, name) &&reader.take(event.name)
#define TORCHTRACE_CTF_TAKE_EVENT(NAME, event_name)                                         \
  inline bool take_event(CtfFieldReader& reader, torchtrace_##event_name& event) noexcept { \
    return true TORCHTRACE_FIELDS_##NAME(TORCHTRACE_CTF_TAKE);                              \
  }
TORCHTRACE_EVENTS(TORCHTRACE_CTF_TAKE_EVENT)
#undef TORCHTRACE_CTF_TAKE_EVENT
#undef TORCHTRACE_CTF_TAKE

/// Calls `handle(const torchtrace_NAME&)`, overloaded for all events, for each event of the packet
/// on `page` (`kCtfPacketBytes`). False from where on it is no packet of ours.
template <typename Handler>
bool read_ctf_packet(const std::byte* page, Handler&& handle) {
  CtfPacketHeader header{};
  CtfPacketContext context{};
  std::memcpy(&header, page, sizeof header);
  std::memcpy(&context, page + sizeof header, sizeof context);
  const std::uint64_t bytes = context.content_size / 8;
  if (header.magic != kCtfMagic || context.content_size % 8 != 0 ||
      bytes < kCtfPacketPrologueBytes || bytes > kCtfPacketBytes) {
    return false;
  }
  CtfFieldReader reader(page + kCtfPacketPrologueBytes, page + bytes);
  while (!reader.at_end()) {
    std::uint8_t id = 0;
    std::uint64_t timestamp = 0;
    if (!reader.take(id) || !reader.take(timestamp)) return false;
    switch (static_cast<CtfEventId>(id)) {
#define TORCHTRACE_CTF_HANDLE(NAME, event_name)                 \
  case CtfEventId::k_##event_name: {                            \
    torchtrace_##event_name event{};                            \
    if (!take_event(reader, event)) return false;               \
    handle(static_cast<const torchtrace_##event_name&>(event)); \
    break;                                                      \
  }
      TORCHTRACE_EVENTS(TORCHTRACE_CTF_HANDLE)
#undef TORCHTRACE_CTF_HANDLE
      default:
        return false;
    }
  }
  return true;
}

}  // namespace torchtrace::flush
