#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/events.h"
#include "flush/process_info.h"
#include "recovery/evidence.h"
#include "recovery/mapping_file.h"
#include "recovery/own_trace.h"
#include "recovery/process_copy.h"

namespace torchtrace::recovery {

/// Everything known of one process: its mapping, and the trace that it has written itself.
class Recovery {
 public:
  /// Errors: throws Error with one sentence.
  explicit Recovery(const MappingFile& mapping);

  bool is_dead() const noexcept { return state_ == core::MappingState::kDead; }
  const ProcessCopy& copy() const noexcept { return copy_; }
  const Evidence& evidence() const noexcept { return evidence_; }
  const OwnTrace& own_trace() const noexcept { return own_; }
  const core::TickConverter& clock() const noexcept { return clock_; }
  const flush::ProcessInfo& info() const noexcept { return info_; }

  /// The last that is known of it: now, if it runs. Units: CLOCK_MONOTONIC ns.
  std::uint64_t last_sign_ns() const noexcept { return last_sign_ns_; }

  /// Where the program wrote its traces; empty if that is not known.
  std::string output_directory() const { return copy_.header().facts.output_directory; }
  /// The folder of its own trace; empty if there is none.
  std::string own_trace_folder() const;

  /// True if it is known exactly what the program has written: nothing, or its CTF trace is there.
  /// What an LTTng session was handed cannot be looked up.
  bool can_look_up() const noexcept;

  /// True if the program has not written it.
  bool is_new(const core::Record& record) const noexcept;

 private:
  std::uint64_t find_last_sign() const noexcept;

  core::MappingState state_;
  ProcessCopy copy_;
  core::TickConverter clock_;
  flush::ProcessInfo info_;
  Evidence evidence_;
  OwnTrace own_;
  std::uint64_t last_sign_ns_ = 0;
};

/// What was written.
struct Written {
  std::string folder;
  torchtrace_receipt receipt{};
};

/// Writes what the program's own trace lacks into a trace of its own in `directory`: records,
/// operators that were open, and the receipt. `beside`: the program is dead, and `directory` is
/// where its own trace is, so that both are read as one; the receipt is then that of both.
/// Errors: throws Error with one sentence.
Written write_trace(const Recovery& recovery, const std::string& directory, bool beside);

}  // namespace torchtrace::recovery
