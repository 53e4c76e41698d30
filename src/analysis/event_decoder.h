#pragma once

#include <babeltrace2/babeltrace.h>

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/event_handler.h"

namespace torchtrace::analysis {

/// Turns the events of one event class into the structs of core/events.h. Which member of the
/// payload goes where is resolved once, here, so that an event costs one indexed look-up per field.
///
/// Fields that the class has and the struct lacks are ignored; those that the struct has and the
/// class lacks get the value that means "unknown" there, unless no sense can be made of the event
/// without them.
class EventDecoder {
 public:
  /// A decoder for events that are not ours.
  EventDecoder() = default;

  /// Errors: throws TraceError (without the trace's name) where a mandatory field is missing or has
  /// another type.
  explicit EventDecoder(const bt_event_class* event_class);

  /// Whether the class is one of provider `torchtrace` that this version knows.
  bool is_ours() const noexcept { return event_ != kNotOurs; }

  /// Decodes `event` and hands it to `handler`. Only where `is_ours()`.
  void dispatch(const TraceInfo& trace, const bt_event* event, EventHandler& handler) const;

 private:
  static constexpr int kNotOurs = -1;

  /// How one member of the payload becomes one member of the struct.
  struct Step {
    std::uint32_t member;  ///< Index in the payload.
    std::uint16_t offset;  ///< In the struct.
    std::uint8_t size;     ///< Of the struct's member; 0 for a string.
    bool is_signed;        ///< Of the payload's member.
  };

  int event_ = kNotOurs;  ///< Position in TORCHTRACE_EVENTS.
  std::vector<Step> steps_;
};

}  // namespace torchtrace::analysis
