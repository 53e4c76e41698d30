#include "flush/ctf/metadata.h"

#include "core/events.h"

namespace torchtrace::flush {
namespace {

/// The types that the rest of the text names. All are byte-aligned: no field needs padding.
constexpr const char* kTypes =
    "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
    "typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
    "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
    "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
    "typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n\n";

constexpr const char* kPacketHeader =
    "\tpacket.header := struct {\n"
    "\t\tuint32_t magic;\n"
    "\t\tuint8_t uuid[16];\n"
    "\t\tuint32_t stream_id;\n"
    "\t\tuint64_t stream_instance_id;\n"
    "\t};\n";

constexpr const char* kStream =
    "typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; }"
    " := uint64_clock_t;\n\n"
    "stream {\n"
    "\tid = 0;\n"
    "\tpacket.context := struct {\n"
    "\t\tuint64_clock_t timestamp_begin;\n"
    "\t\tuint64_clock_t timestamp_end;\n"
    "\t\tuint64_t content_size;\n"
    "\t\tuint64_t packet_size;\n"
    "\t\tuint64_t packet_seq_num;\n"
    "\t\tuint64_t events_discarded;\n"
    "\t};\n"
    "\tevent.header := struct {\n"
    "\t\tuint8_t id;\n"
    "\t\tuint64_clock_t timestamp;\n"
    "\t};\n"
    "};\n\n";

/// Quotes `text` for TSDL. Characters that would need an escape cannot be in a host's or a trace's
/// name in earnest, so they are replaced rather than trusted to every reader's lexer.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const bool plain = static_cast<unsigned char>(c) >= ' ' && c != '"' && c != '\\' && c != 0x7F;
    result += plain ? c : '_';
  }
  return result + '"';
}

std::string uuid_text(const CtfUuid& uuid) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[uuid[i] >> 4U];
    text += kDigits[uuid[i] & 0xFU];
  }
  return text;
}

std::string trace_block(const CtfUuid& uuid) {
  const char* const order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "le" : "be";
  return "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"" + uuid_text(uuid) +
         "\";\n\tbyte_order = " + order + ";\n" + kPacketHeader + "};\n\n";
}

std::string env_block(const CtfTraceIdentity& identity) {
  const auto number = [](const char* key, unsigned long long value) {
    return std::string("\t") + key + " = " + std::to_string(value) + ";\n";
  };
  const auto text = [](const char* key, const std::string& value) {
    return std::string("\t") + key + " = " + quoted(value) + ";\n";
  };
  return "env {\n" + text("hostname", identity.host) + text("domain", "ust") +
         text("tracer_name", "torchtrace") + number("tracer_major", TORCHTRACE_VERSION_MAJOR) +
         number("tracer_minor", TORCHTRACE_VERSION_MINOR) +
         number("tracer_patchlevel", TORCHTRACE_VERSION_PATCH) +
         number("torchtrace_format", TORCHTRACE_TRACE_FORMAT) +
         text("trace_name", identity.trace_name) + text("procname", identity.process_name) +
         number("vpid", identity.pid) + "};\n\n";
}

/// `absolute`: the clock counts from the Unix epoch once the offset is added, as readers take
/// LTTng's for granted; they refuse to merge an absolute clock with one that is not.
std::string clock_block(const CtfClock& clock) {
  const std::string uuid = clock.boot_id.empty() ? "" : "\tuuid = \"" + clock.boot_id + "\";\n";
  return "clock {\n\tname = \"monotonic\";\n" + uuid +
         "\tdescription = \"Monotonic Clock\";\n\tfreq = 1000000000;\n\toffset = " +
         std::to_string(clock.offset_ns) + ";\n\tabsolute = TRUE;\n};\n\n";
}

/// Visitor of `CtfEvent::for_each_field` that describes. Names begin with an underscore, which
/// readers take off, as `clock` and others are words of TSDL.
class FieldDescriber {
 public:
  explicit FieldDescriber(std::string& out) : out_(out) {}

  void operator()(const char* name, std::uint8_t /*value*/) { field("uint8_t", name); }
  void operator()(const char* name, std::uint16_t /*value*/) { field("uint16_t", name); }
  void operator()(const char* name, std::uint32_t /*value*/) { field("uint32_t", name); }
  void operator()(const char* name, std::uint64_t /*value*/) { field("uint64_t", name); }
  void operator()(const char* name, std::int64_t /*value*/) { field("int64_t", name); }
  void operator()(const char* name, const char* /*value*/) { field("string", name); }

 private:
  void field(const char* type, const char* name) {
    out_ = out_ + "\t\t" + type + " _" + name + ";\n";
  }

  std::string& out_;
};

template <typename Event>
std::string event_block() {
  using Traits = CtfEvent<Event>;
  std::string text = std::string("event {\n\tname = \"") + Traits::kName +
                     "\";\n\tid = " + std::to_string(static_cast<unsigned>(Traits::kId)) +
                     ";\n\tstream_id = 0;\n\tfields := struct {\n";
  Traits::for_each_field(Event{}, FieldDescriber(text));
  return text + "\t};\n};\n\n";
}

}  // namespace

std::string ctf_metadata(const CtfTraceIdentity& identity) {
  std::string text = "/* CTF 1.8 */\n\n";
  text += kTypes;
  text += trace_block(identity.uuid);
  text += env_block(identity);
  text += clock_block(identity.clock);
  text += kStream;
#define TORCHTRACE_CTF_DESCRIBE(NAME, name) text += event_block<torchtrace_##name>();
  TORCHTRACE_EVENTS(TORCHTRACE_CTF_DESCRIBE)
#undef TORCHTRACE_CTF_DESCRIBE
  return text;
}

}  // namespace torchtrace::flush
