#include "flush/ctf/packet.h"

#include <algorithm>
#include <cstring>

#include "flush/ctf/utf8.h"

namespace torchtrace::flush {
namespace {

/// Visitor of `CtfEvent::for_each_field` that serializes. The caller has made sure that all fixed
/// bytes fit; only the characters of strings are checked, against what then remains.
class FieldWriter {
 public:
  FieldWriter(std::byte* at, std::size_t packet_room_bytes, std::size_t event_room_bytes,
              std::size_t strings) noexcept
      : at_(at),
        packet_room_bytes_(packet_room_bytes),
        event_room_bytes_(event_room_bytes),
        strings_left_(strings) {}

  template <typename Integer>
  void operator()(const char* /*name*/, Integer value) noexcept {
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
  }

  void operator()(const char* /*name*/, const char* text) noexcept {
    --strings_left_;
    if (text == nullptr || *text == '\0') text = "unknown";
    const std::size_t limit =
        std::min(kCtfMaxStringBytes, event_room_bytes_ - strings_left_ * kCtfStringShareBytes);
    const std::size_t length = ::strnlen(text, limit);
    if (length > packet_room_bytes_) {
      fits_ = false;
      return;
    }
    std::size_t copied = copy_as_utf8(reinterpret_cast<char*>(at_), text, length);
    if (copied == 0) at_[copied++] = std::byte{'?'};  // nothing but the beginning of a character
    at_[copied] = std::byte{0};
    at_ += copied + 1;
    packet_room_bytes_ -= copied;
    event_room_bytes_ -= copied;
  }

  bool fits() const noexcept { return fits_; }
  std::byte* at() const noexcept { return at_; }

 private:
  std::byte* at_;
  std::size_t packet_room_bytes_;  ///< For characters of strings, in this packet.
  std::size_t event_room_bytes_;   ///< The same in an empty packet: what may be used is cut to it.
  std::size_t strings_left_;
  bool fits_ = true;
};

}  // namespace

void CtfPacket::begin(std::byte* page) noexcept {
  page_ = page;
  used_bytes_ = kCtfPacketPrologueBytes;
  first_ts_ns_ = last_ts_ns_;
}

template <typename Event>
bool CtfPacket::append(const Event& event, std::uint64_t header_ts_ns) noexcept {
  using Traits = CtfEvent<Event>;
  const std::size_t room_bytes = kCtfPacketBytes - used_bytes_;
  if (room_bytes < Traits::kFixedBytes) return false;
  FieldWriter write(page_ + used_bytes_, room_bytes - Traits::kFixedBytes,
                    kCtfStringRoomBytes<Event>, Traits::kStrings);
  write("id", Traits::kId);
  write("timestamp", header_ts_ns);
  Traits::for_each_field(event, write);
  if (!write.fits()) return false;
  if (empty()) first_ts_ns_ = header_ts_ns;
  last_ts_ns_ = header_ts_ns;
  used_bytes_ = static_cast<std::size_t>(write.at() - page_);
  return true;
}

#define TORCHTRACE_CTF_INSTANTIATE(NAME, name) \
  template bool CtfPacket::append(const torchtrace_##name&, std::uint64_t) noexcept;
TORCHTRACE_EVENTS(TORCHTRACE_CTF_INSTANTIATE)
#undef TORCHTRACE_CTF_INSTANTIATE

void CtfPacket::finish(const CtfUuid& uuid, std::uint64_t sequence_number,
                       std::uint64_t events_discarded) noexcept {
  constexpr std::uint64_t kBitsPerByte = 8;
  const CtfPacketHeader header{kCtfMagic, uuid, 0, 0};
  const CtfPacketContext context{
      first_ts_ns_,    last_ts_ns_,     used_bytes_ * kBitsPerByte, kCtfPacketBytes * kBitsPerByte,
      sequence_number, events_discarded};
  std::memcpy(page_, &header, sizeof header);
  std::memcpy(page_ + sizeof header, &context, sizeof context);
  std::memset(page_ + used_bytes_, 0, kCtfPacketBytes - used_bytes_);
}

}  // namespace torchtrace::flush
