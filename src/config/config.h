#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/record.h"

namespace torchtrace::config {

enum class SinkKind { kAuto, kLttng, kCtf, kSnapshot, kNone, kOff };
enum class WhenFull { kRotate, kStop };
enum class OverflowPolicy { kDropNewest, kOverwriteOldest, kBlock };
enum class DumpSignal { kUsr2, kUsr1, kNone };
enum class ClockSource { kAuto, kTsc, kMonotonic };

/// The effective values of all options: defaults, then the file, then the environment.
/// Every member is described, with unit, default and bounds, by one row of the option table
/// (config/option_table.cpp); a member without a row fails a test.
struct Config {
  struct Filters {
    /// Indexed by `core::Scope`: which scopes are registered with PyTorch.
    std::array<bool, core::kScopeCount> scopes{};
    std::vector<std::string> include;  ///< Globs (filters/name_filter.h). Empty: all names.
    std::vector<std::string> exclude;
  } filters;
  struct Observer {
    bool reregister = true;  ///< Adds the callback again where the program removed it.
  } observer;
  struct Buffer {
    std::uint64_t size_bytes = 0;  ///< Ring of one thread; a power of two.
    std::uint64_t total_bytes =
        0;  ///< All rings of the process; threads beyond it are counted only.
    OverflowPolicy policy = OverflowPolicy::kDropNewest;
    std::uint64_t spare = 0;  ///< Buffers kept ready for threads to come.
  } buffer;
  struct Output {
    SinkKind sink = SinkKind::kAuto;
    std::string directory;  ///< Empty: `torchtrace-PID` in the working directory.
    std::uint64_t max_bytes = 0;
    WhenFull when_full = WhenFull::kRotate;
    std::uint64_t hold_ns = 0;
    std::uint64_t period_ns = 0;
  } output;
  /// Of `output.sink = "snapshot"` only.
  struct Snapshot {
    std::uint64_t seconds_ns = 0;    ///< What a ring holds; gives `buffer.size_bytes` if unset.
    std::uint64_t slow_step_ns = 0;  ///< A longer step is dumped; 0: none.
    DumpSignal signal = DumpSignal::kUsr2;
  } snapshot;
  struct Clock {
    ClockSource source = ClockSource::kAuto;
  } clock;

  /// Hash of all effective values in the option table's order, 16 hexadecimal digits.
  std::string digest;
};

}  // namespace torchtrace::config
