#pragma once

#include <string>

#include "core/layout.h"
#include "flush/process_info.h"
#include "flush/sink.h"
#include "flush/trace_writer.h"

/// What the flush thread leaves in the mapping for a reader after the process's death. A few plain
/// stores per period; nothing that an op thread waits for. Thread: the flush thread.
namespace torchtrace::flush {

void note_facts(core::ProcessHeader& header, const ProcessInfo& info, TraceWriter::Timing timing,
                const std::string& output_directory);

/// What is known by now of the layout of PyTorch's events. Costs a comparison where that has not
/// changed; a kill in the middle of a change leaves a text cut off or mixed.
void note_layout(core::ProcessHeader& header, const char* layout) noexcept;

void note_anchor(core::ProcessHeader& header, const core::ClockAnchor& anchor) noexcept;

/// A trace has begun in `directory`; an empty `trace_name` if nothing of it can be looked up.
void note_trace(core::ProcessHeader& header, const std::string& directory,
                const std::string& trace_name) noexcept;

/// How far the flush thread has come.
struct Progress {
  std::uint64_t now_ticks;
  std::uint64_t watermark_ticks;
  Sink::Counts counts;
  std::uint64_t late;
  std::uint64_t inherited;
  std::uint64_t names_overflowed;
  std::uint64_t clock_error_ns;
  std::uint64_t clock_stepped;
};
void note_progress(core::ProcessHeader& header, const Progress& progress) noexcept;

}  // namespace torchtrace::flush
