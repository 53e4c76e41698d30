#include "analysis/event_decoder.h"

#include <array>
#include <cstddef>
#include <cstring>

#include "analysis/trace_error.h"

namespace torchtrace::analysis {
namespace {

constexpr const char* kProvider = "torchtrace:";

struct FieldSpec {
  const char* name;
  const char* kind;  ///< u8 u16 u32 u64 i64 str, as in core/events.h
  std::uint16_t offset;
  std::uint8_t size;  ///< 0 for a string.
};

constexpr bool is_string(const char* kind) { return kind[0] == 's'; }

struct EventSpec {
  const char* name;
  const FieldSpec* fields;
  std::size_t field_count;
};

#define TORCHTRACE_FIELD_SPEC(kind, name)                                    \
  FieldSpec{#name, #kind, static_cast<std::uint16_t>(offsetof(Event, name)), \
            static_cast<std::uint8_t>(is_string(#kind) ? 0 : sizeof(Event::name))},
#define TORCHTRACE_EVENT_FIELDS(NAME, name)                             \
  constexpr auto k_##name##_fields = [] {                               \
    using Event = torchtrace_##name;                                    \
    return std::array{TORCHTRACE_FIELDS_##NAME(TORCHTRACE_FIELD_SPEC)}; \
  }();
TORCHTRACE_EVENTS(TORCHTRACE_EVENT_FIELDS)

#define TORCHTRACE_EVENT_SPEC(NAME, name) \
  EventSpec{#name, k_##name##_fields.data(), k_##name##_fields.size()},
constexpr std::array kEvents = {TORCHTRACE_EVENTS(TORCHTRACE_EVENT_SPEC)};

/// The positions in `kEvents`.
#define TORCHTRACE_EVENT_INDEX(NAME, name) k_##name,
enum EventIndex : int { TORCHTRACE_EVENTS(TORCHTRACE_EVENT_INDEX) };

/// Fields without which an event of that name says nothing; `ts` and `pid` are so in all of them.
constexpr const char* kMandatory[][2] = {
    {"process", "start_time"}, {"thread", "tid"},      {"op", "dur"},
    {"op", "op_id"},           {"op", "name"},         {"op_begin", "op_id"},
    {"op_begin", "name"},      {"op_end", "dur"},      {"op_end", "op_id"},
    {"op_end", "name"},        {"receipt", "started"}, {"receipt", "recorded"},
    {"receipt", "written"},    {"loss", "reason"},     {"loss", "count"}};

bool is_mandatory(const char* event, const char* field) {
  if (std::strcmp(field, "ts") == 0 || std::strcmp(field, "pid") == 0) {
    return true;
  }
  for (const auto& row : kMandatory) {
    if (std::strcmp(row[0], event) == 0 && std::strcmp(row[1], field) == 0) {
      return true;
    }
  }
  return false;
}

/// Every struct of core/events.h, to decode into.
union AnyEvent {
  std::byte bytes[1];
#define TORCHTRACE_UNION_MEMBER(NAME, name) torchtrace_##name name;
  TORCHTRACE_EVENTS(TORCHTRACE_UNION_MEMBER)
#undef TORCHTRACE_UNION_MEMBER
};

/// The values that mean "unknown": -1 in signed members (seq, rank, world_size), "unknown" in
/// strings, 0 elsewhere. `settling` is a difference, whose neutral value is 0.
AnyEvent make_defaults(const EventSpec& spec) {
  static const char* const kUnknown = "unknown";
  AnyEvent event;
  std::memset(static_cast<void*>(&event), 0, sizeof event);
  for (std::size_t i = 0; i < spec.field_count; ++i) {
    const FieldSpec& field = spec.fields[i];
    std::byte* member = event.bytes + field.offset;
    if (is_string(field.kind)) {
      std::memcpy(member, &kUnknown, field.size);
    } else if (field.kind[0] == 'i' && std::strcmp(field.name, "settling") != 0) {
      std::memset(member, 0xff, field.size);
    }
  }
  return event;
}

const AnyEvent& defaults(int event) {
  static const std::array<AnyEvent, kEvents.size()> kDefaults = [] {
    std::array<AnyEvent, kEvents.size()> all;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = make_defaults(kEvents[i]);
    }
    return all;
  }();
  return kDefaults[static_cast<std::size_t>(event)];
}

int find_event(const char* class_name) {
  const std::size_t prefix = std::strlen(kProvider);
  if (class_name == nullptr || std::strncmp(class_name, kProvider, prefix) != 0) {
    return -1;
  }
  for (std::size_t i = 0; i < kEvents.size(); ++i) {
    if (std::strcmp(class_name + prefix, kEvents[i].name) == 0) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

/// Index of the payload's member `name`, or -1.
std::int64_t find_member(const bt_field_class* payload, const char* name) {
  const std::uint64_t count =
      payload == nullptr ? 0 : bt_field_class_structure_get_member_count(payload);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto* member = bt_field_class_structure_borrow_member_by_index_const(payload, i);
    if (std::strcmp(bt_field_class_structure_member_get_name(member), name) == 0) {
      return static_cast<std::int64_t>(i);
    }
  }
  return -1;
}

bt_field_class_type member_type(const bt_field_class* payload, std::uint32_t index) {
  const auto* member = bt_field_class_structure_borrow_member_by_index_const(payload, index);
  return bt_field_class_get_type(bt_field_class_structure_member_borrow_field_class_const(member));
}

bool type_fits(bt_field_class_type type, const FieldSpec& field) {
  return is_string(field.kind) ? bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_STRING)
                               : bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_INTEGER);
}

std::uint64_t integer_value(const bt_field* field, bool is_signed) {
  return is_signed ? static_cast<std::uint64_t>(bt_field_integer_signed_get_value(field))
                   : bt_field_integer_unsigned_get_value(field);
}

template <typename Member>
void store_as(std::byte* member, std::uint64_t value) {
  const auto narrowed = static_cast<Member>(value);
  std::memcpy(member, &narrowed, sizeof narrowed);
}

void store_integer(std::byte* member, std::uint8_t size, std::uint64_t value) {
  switch (size) {
    case sizeof(std::uint8_t):
      return store_as<std::uint8_t>(member, value);
    case sizeof(std::uint16_t):
      return store_as<std::uint16_t>(member, value);
    case sizeof(std::uint32_t):
      return store_as<std::uint32_t>(member, value);
    default:
      return store_as<std::uint64_t>(member, value);
  }
}

}  // namespace

EventDecoder::EventDecoder(const bt_event_class* event_class)
    : event_(find_event(bt_event_class_get_name(event_class))) {
  if (!is_ours()) {
    return;
  }
  const EventSpec& spec = kEvents[static_cast<std::size_t>(event_)];
  const bt_field_class* payload = bt_event_class_borrow_payload_field_class_const(event_class);
  for (std::size_t i = 0; i < spec.field_count; ++i) {
    const FieldSpec& field = spec.fields[i];
    const std::int64_t found = find_member(payload, field.name);
    const auto member = static_cast<std::uint32_t>(found);
    const bool fits = found >= 0 && type_fits(member_type(payload, member), field);
    if (fits) {
      const bool is_signed =
          bt_field_class_type_is(member_type(payload, member), BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
      steps_.push_back({member, field.offset, field.size, is_signed});
    } else if (is_mandatory(spec.name, field.name)) {
      throw TraceError("event " + std::string(kProvider) + spec.name + " has no " +
                       (is_string(field.kind) ? "string" : "integer") + " field '" + field.name +
                       "': written by a version of torchtrace that this one cannot read");
    }
  }
}

void EventDecoder::dispatch(const TraceInfo& trace, const bt_event* event,
                            EventHandler& handler) const {
  AnyEvent decoded = defaults(event_);
  const bt_field* payload = bt_event_borrow_payload_field_const(event);
  for (const Step& step : steps_) {
    const bt_field* field =
        bt_field_structure_borrow_member_field_by_index_const(payload, step.member);
    std::byte* member = decoded.bytes + step.offset;
    if (step.size == 0) {
      const char* text = bt_field_string_get_value(field);
      std::memcpy(member, &text, sizeof text);
    } else {
      store_integer(member, step.size, integer_value(field, step.is_signed));
    }
  }
  switch (event_) {
#define TORCHTRACE_DISPATCH(NAME, name)     \
  case k_##name:                            \
    handler.on_##name(trace, decoded.name); \
    break;
    TORCHTRACE_EVENTS(TORCHTRACE_DISPATCH)
#undef TORCHTRACE_DISPATCH
    default:
      break;
  }
}

}  // namespace torchtrace::analysis
