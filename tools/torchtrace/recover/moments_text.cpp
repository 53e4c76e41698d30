#include <ostream>
#include <string>

#include "analysis/units.h"
#include "core/clock.h"
#include "recover/moments_output.h"
#include "recover/printable.h"
#include "recovery/moments.h"

namespace torchtrace::cli {
namespace {

using analysis::TextStyle;
using recovery::ThreadMoments;

constexpr std::size_t kLastShown = 3;

std::string duration(std::uint64_t ns) {
  return analysis::format_duration(static_cast<double>(ns));
}

std::string fate(const recovery::Recovery& recovery) {
  if (!recovery.is_dead()) return "is running";
  const std::uint64_t now_ns = core::clock_ns(CLOCK_MONOTONIC);
  const std::uint64_t last_ns = recovery.last_sign_ns();
  return "has died; last sign of life " + duration(now_ns > last_ns ? now_ns - last_ns : 0) +
         " ago";
}

void write_process(const recovery::Recovery& recovery, const TextStyle& style, std::ostream& out) {
  const flush::ProcessInfo& info = recovery.info();
  out << analysis::bold("process " + std::to_string(info.pid), style) << ' ' << fate(recovery)
      << '\n'
      << "  command  " << printable(info.command) << '\n'
      << "  PyTorch  " << printable(info.torch_version) << ", " << printable(info.torch_path)
      << '\n';
}

std::string started(const ThreadMoments& thread) {
  return analysis::format_count(thread.started) +
         (thread.started == 1 ? " operator" : " operators") + " started" +
         (thread.has_ended ? ", thread has ended" : "");
}

void write_open(const ThreadMoments& thread, const TextStyle& style, std::ostream& out) {
  analysis::TextTable table({"  open, outermost first", "for"});
  for (std::size_t level = 0; level < thread.open.size(); ++level) {
    const recovery::OpenMoment& op = thread.open[level];
    table.add_row({"  " + std::string(2 * level, ' ') + printable(op.name) +
                       (op.is_user_scope ? " (user scope)" : ""),
                   duration(op.open_for_ns)});
  }
  table.print(out, style);
}

void write_thread(const ThreadMoments& thread, const TextStyle& style, std::ostream& out) {
  out << '\n'
      << analysis::bold("thread " + std::to_string(thread.info.tid), style) << ' '
      << printable(thread.info.name) << "  " << analysis::dim(started(thread), style) << '\n';
  if (!thread.open.empty()) write_open(thread, style, out);
  if (thread.was_starting) out << "  an operator that was just starting; its name is not known\n";
  if (thread.open.empty() && !thread.was_starting) out << "  in no operator\n";
  for (const recovery::EndedMoment& op : thread.last) {
    out << analysis::dim("  before: " + printable(op.name) + ", took " + duration(op.dur_ns) +
                             ", ended " + duration(op.ended_before_ns) + " earlier",
                         style)
        << '\n';
  }
}

void write_receipt(const recovery::Written& written, std::ostream& out) {
  const torchtrace_receipt& receipt = written.receipt;
  const auto count = analysis::format_count;
  out << "\ntrace in " << written.folder << '\n'
      << "  started " << count(receipt.started) << " = written " << count(receipt.written)
      << " + filtered " << count(receipt.filtered) << " + open " << count(receipt.open)
      << " + dropped "
      << count(receipt.dropped_ring_full + receipt.dropped_too_deep + receipt.dropped_no_scope +
               receipt.dropped_no_buffer + receipt.dropped_abandoned +
               receipt.dropped_block_timeout + receipt.dropped_overwritten)
      << " + lost at its death " << count(receipt.lost_killed) << " + lost before "
      << count(receipt.lost_disk_full + receipt.lost_rotated_out) << " + elsewhere "
      << count(receipt.lost_elsewhere);
  if (receipt.settling != 0) out << " + settling " << receipt.settling;
  out << (receipt.final != 0 ? "" : " (not exact)") << '\n';
}

}  // namespace

void write_moments_text(const RecoverReport& report, const TextStyle& style, std::ostream& out) {
  write_process(report.recovery, style, out);
  for (const ThreadMoments& thread : recovery::describe_threads(report.recovery, kLastShown)) {
    write_thread(thread, style, out);
  }
  const std::uint32_t missing = report.recovery.copy().missing_buffers();
  if (missing != 0) {
    out << '\n'
        << missing << " threads had their buffers in private memory: nothing is known of "
        << "them\n";
  }
  if (report.written) write_receipt(*report.written, out);
}

}  // namespace torchtrace::cli
