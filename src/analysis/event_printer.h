#pragma once

#include <iosfwd>
#include <string>

#include "analysis/event_handler.h"

namespace torchtrace::analysis {

/// Writes one line per event: its name, then `key=value` pairs separated by blanks, in the order of
/// core/events.h. Strings with blanks, quotes or control characters are quoted and escaped, so that
/// a line is always one event. `flags`, `scope` and `outcome` are spelled out.
class EventPrinter final : public EventHandler {
 public:
  explicit EventPrinter(std::ostream& out) : out_(out) {}

#define TORCHTRACE_PRINTER_MEMBER(NAME, name) \
  void on_##name(const TraceInfo& trace, const torchtrace_##name& event) override;
  TORCHTRACE_EVENTS(TORCHTRACE_PRINTER_MEMBER)
#undef TORCHTRACE_PRINTER_MEMBER

 private:
  void write_line();

  std::ostream& out_;
  std::string line_;
};

}  // namespace torchtrace::analysis
