#include "flush/post_mortem_notes.h"

#include <cstring>

namespace torchtrace::flush {

namespace {

template <std::size_t size>
void copy_text(char (&to)[size], const std::string& from) noexcept {
  const std::size_t length = from.copy(to, size - 1);
  to[length] = '\0';
}

/// A path that is cut leads elsewhere: none instead.
template <std::size_t size>
void copy_path(char (&to)[size], const std::string& from) noexcept {
  copy_text(to, from.size() < size ? from : std::string());
}

void set(core::Counter& counter, std::uint64_t value) noexcept {
  counter.store(value, std::memory_order_relaxed);
}

}  // namespace

void note_facts(core::ProcessHeader& header, const ProcessInfo& info, TraceWriter::Timing timing,
                const std::string& output_directory) {
  core::ProcessFacts& facts = header.facts;
  copy_text(facts.command, info.command);
  copy_text(facts.host, info.host);
  copy_text(facts.torch_version, info.torch_version);
  copy_text(facts.torch_path, info.torch_path);
  copy_text(facts.agent_version, info.agent_version);
  copy_text(facts.config_digest, info.config_digest);
  copy_path(facts.output_directory, output_directory);
  facts.rank = info.rank;
  facts.world_size = info.world_size;
  facts.hold_ns = timing.hold_ns;
  facts.period_ns = timing.period_ns;
}

void note_layout(core::ProcessHeader& header, const char* layout) noexcept {
  char(&noted)[sizeof(core::ProcessFacts::torch_layout)] = header.facts.torch_layout;
  if (std::strncmp(noted, layout, sizeof(noted) - 1) == 0) return;
  std::strncpy(noted, layout, sizeof(noted) - 1);
}

void note_anchor(core::ProcessHeader& header, const core::ClockAnchor& anchor) noexcept {
  const std::uint32_t count = header.anchor_count.load(std::memory_order_relaxed);
  header.anchors[count % core::kAnchorsKept] = anchor;
  header.anchor_count.store(count + 1, std::memory_order_release);
}

void note_trace(core::ProcessHeader& header, const std::string& directory,
                const std::string& trace_name) noexcept {
  if (!trace_name.empty()) {
    copy_path(header.facts.output_directory, directory);
    copy_path(header.facts.trace_name, trace_name);
  }
  header.progress.sink.store(trace_name.empty() ? core::kSinkOther : core::kSinkCtf,
                             std::memory_order_release);
}

void note_progress(core::ProcessHeader& header, const Progress& progress) noexcept {
  core::FlushProgress& noted = header.progress;
  set(noted.now_ticks, progress.now_ticks);
  set(noted.watermark_ticks, progress.watermark_ticks);
  set(noted.written, progress.counts.written);
  set(noted.lost_disk_full, progress.counts.lost_disk_full);
  set(noted.lost_rotated_out, progress.counts.lost_rotated_out);
  set(noted.lost_elsewhere, progress.counts.lost_elsewhere);
  set(noted.late, progress.late);
  set(noted.inherited, progress.inherited);
  set(noted.names_overflowed, progress.names_overflowed);
  set(noted.clock_error_ns, progress.clock_error_ns);
  set(noted.clock_stepped, progress.clock_stepped);
}

}  // namespace torchtrace::flush
