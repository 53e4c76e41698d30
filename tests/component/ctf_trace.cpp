#include "ctf_trace.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace torchtrace::flush {
namespace {

/// Takes fields off the bytes of one packet.
class Cursor {
 public:
  Cursor(const char* at, const char* end) : at_(at), end_(end) {}

  bool at_end() const { return at_ == end_; }

  template <typename Integer>
  void take(Integer& value) {
    if (static_cast<std::size_t>(end_ - at_) < sizeof value) throw std::runtime_error("cut field");
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
  }

  void take(const char*& text) {
    const char* const terminator = std::find(at_, end_, '\0');
    if (terminator == end_) throw std::runtime_error("string without end");
    text = at_;
    at_ = terminator + 1;
  }

 private:
  const char* at_;
  const char* end_;
};

#define TAKE_FIELD(kind, name) cursor.take(event.name);
#define DEFINE_TAKE(NAME, name) \
  void take_event(Cursor& cursor, torchtrace_##name& event) { TORCHTRACE_FIELDS_##NAME(TAKE_FIELD) }
TORCHTRACE_EVENTS(DEFINE_TAKE)
#undef DEFINE_TAKE
#undef TAKE_FIELD

struct Collector {
  CtfTrace& trace;

  void add(const torchtrace_op& /*event*/) { ++trace.operators; }
  void add(const torchtrace_op_end& event) {
    trace.operators += event.outcome == TORCHTRACE_OUTCOME_ENDED ? 1 : 0;
  }
  void add(const torchtrace_receipt& event) { trace.receipts.push_back(event); }
  template <typename Event>
  void add(const Event& /*event*/) {}
};

void read_event(Cursor& cursor, std::uint8_t id, CtfTrace& trace) {
  std::uint64_t timestamp_ns = 0;
  cursor.take(timestamp_ns);
  ++trace.events;
  switch (id) {
#define READ_EVENT(NAME, name)                                        \
  case static_cast<std::uint8_t>(CtfEvent<torchtrace_##name>::kId): { \
    torchtrace_##name event{};                                        \
    take_event(cursor, event);                                        \
    return Collector{trace}.add(event);                               \
  }
    TORCHTRACE_EVENTS(READ_EVENT)
#undef READ_EVENT
    default:
      throw std::runtime_error("unknown event");
  }
}

void read_packet(const char* packet, bool first_of_file, CtfTrace& trace) {
  CtfPacketHeader header{};
  std::memcpy(&header, packet, sizeof header);
  if (header.magic != kCtfMagic) throw std::runtime_error("no packet");
  CtfPacketContext context{};
  std::memcpy(&context, packet + sizeof header, sizeof context);
  if (context.packet_size != 8 * kCtfPacketBytes) throw std::runtime_error("odd packet");
  trace.packets.push_back(context);
  Cursor cursor(packet + kCtfPacketPrologueBytes, packet + context.content_size / 8);
  for (bool first = first_of_file; !cursor.at_end(); first = false) {
    std::uint8_t id = 0;
    cursor.take(id);
    if (first) trace.first_ids.push_back(id);
    read_event(cursor, id, trace);
  }
}

std::vector<char> file_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

bool CtfTrace::is_continuous() const {
  for (std::size_t i = 1; i < packets.size(); ++i) {
    const bool numbered = packets[i].packet_seq_num == packets[i - 1].packet_seq_num + 1;
    const bool forward = packets[i].timestamp_begin >= packets[i - 1].timestamp_end;
    if (!numbered || !forward) return false;
  }
  return true;
}

CtfTrace read_ctf_trace(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().rfind("stream-", 0) == 0) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  CtfTrace trace;
  for (const auto& path : files) {
    const std::vector<char> bytes = file_bytes(path);
    if (bytes.size() % kCtfPacketBytes != 0) throw std::runtime_error("part of a packet");
    for (std::size_t at = 0; at < bytes.size(); at += kCtfPacketBytes) {
      read_packet(bytes.data() + at, at == 0, trace);
    }
  }
  return trace;
}

}  // namespace torchtrace::flush
