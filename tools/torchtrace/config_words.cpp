#include "config_words.h"

#include <cstdint>
#include <string_view>

#include "config/option_table.h"
#include "config/units.h"
#include "core/record.h"

namespace torchtrace::cli {
namespace {

using config::Config;
using config::SinkKind;

std::string bytes(std::uint64_t number) {
  return config::format_quantity(number, config::Dimension::kBytes);
}

std::string duration(std::uint64_t ns) {
  return config::format_quantity(ns, config::Dimension::kTime);
}

std::string scope_names(const Config& config) {
  const config::Option& option = *config::find_option("filters.scopes");
  std::string names;
  for (std::size_t i = 0; i < config.filters.scopes.size(); ++i) {
    if (!config.filters.scopes[i]) continue;
    if (!names.empty()) names += ", ";
    names += option.choices[i].name;
  }
  return names;
}

std::string files_in_words(const Config::Output& output) {
  const std::string folder =
      output.directory.empty() ? "torchtrace-PID in the working directory" : output.directory;
  const std::string then = output.when_full == config::WhenFull::kRotate
                               ? "the oldest files are deleted"
                               : "writing stops";
  return "CTF files in " + folder + ", at most " + bytes(output.max_bytes) + "; then " + then;
}

std::string sink_in_words(const Config::Output& output) {
  switch (output.sink) {
    case SinkKind::kAuto:
      return "Writes to LTTng if a session records torchtrace's events, else " +
             files_in_words(output) + '.';
    case SinkKind::kLttng:
      return "Writes to LTTng only: without a session that records torchtrace's events, they are "
             "lost.";
    case SinkKind::kCtf:
      return "Writes " + files_in_words(output) + '.';
    case SinkKind::kSnapshot:
      return "Keeps the last operators of each thread and, when asked to dump them, writes " +
             files_in_words(output) + '.';
    case SinkKind::kNone:
      return "Writes nothing: operators are only counted (output.sink = \"none\").";
    case SinkKind::kOff:
      break;
  }
  return {};
}

std::string clock_in_words(config::ClockSource source) {
  switch (source) {
    case config::ClockSource::kAuto:
      return "Takes time from the time-stamp counter where the kernel trusts it, else from "
             "CLOCK_MONOTONIC.";
    case config::ClockSource::kTsc:
      return "Takes time from the time-stamp counter, even where the kernel does not trust it.";
    case config::ClockSource::kMonotonic:
      break;
  }
  return "Takes time from CLOCK_MONOTONIC.";
}

std::string buffers_in_words(const Config::Buffer& buffer) {
  return "Buffers " + bytes(buffer.size_bytes) + " per thread (" +
         std::to_string(buffer.size_bytes / sizeof(core::Record)) + " operators) and " +
         bytes(buffer.total_bytes) + " per process; what does not fit is dropped and counted.";
}

}  // namespace

std::string config_in_words(const Config& config) {
  if (config.output.sink == SinkKind::kOff) {
    return "Tracing is off: nothing is recorded (output.sink = \"off\").\n";
  }
  return "Records events of these kinds: " + scope_names(config) + ".\n" +
         sink_in_words(config.output) + '\n' + buffers_in_words(config.buffer) + '\n' +
         "Empties the buffers every " + duration(config.output.period_ns) +
         ", and holds events back for " + duration(config.output.hold_ns) +
         " to write them in order.\n" + clock_in_words(config.clock.source) + '\n';
}

}  // namespace torchtrace::cli
