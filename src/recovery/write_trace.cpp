#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "flush/ctf_sink.h"
#include "flush/output_directory.h"
#include "flush/sequencer.h"
#include "flush/trace_writer.h"
#include "recovery/clock.h"
#include "recovery/error.h"
#include "recovery/recovery.h"

namespace torchtrace::recovery {

namespace {

using flush::SequencedOp;

constexpr char kSuffix[] = "-recovered";

std::uint64_t value(const core::Counter& counter) noexcept {
  return counter.load(std::memory_order_relaxed);
}

/// Name of the trace: that of the program's own, so that they stand together.
std::string trace_name(const Recovery& recovery) {
  const std::string own = recovery.own_trace_folder();
  const std::string name =
      own.empty() ? recovery.info().trace_name() : own.substr(own.rfind('/') + 1);
  return name + kSuffix;
}

std::string first_word(const std::string& command) {
  const std::string program = command.substr(0, command.find(' '));
  return program.substr(program.rfind('/') + 1);
}

std::unique_ptr<flush::Sink> open_sink(const Recovery& recovery, const std::string& directory,
                                       Written& written) {
  flush::CtfSinkOptions options;
  options.output_directory = directory;
  options.trace_name = trace_name(recovery);
  options.when_full = config::WhenFull::kStop;
  options.pid = recovery.info().pid;
  options.process_name = first_word(recovery.info().command);
  written.folder = directory + "/" + options.trace_name;
  if (access(written.folder.c_str(), F_OK) == 0) {
    throw Error("it has been recovered before, into " + written.folder +
                ": remove that, or choose another place with -o");
  }
  std::string error;
  std::unique_ptr<flush::Sink> sink = flush::make_ctf_sink(options, error);
  if (sink == nullptr) throw Error(error);
  return sink;
}

/// One trace being written.
class Writer {
 public:
  Writer(const Recovery& recovery, flush::Sink& sink, bool beside)
      : recovery_(recovery),
        sink_(sink),
        beside_(beside),
        writer_(
            recovery.info(), recovery.copy().names(), directory_,
            {recovery.copy().header().facts.hold_ns, recovery.copy().header().facts.period_ns}) {}

  torchtrace_receipt write() {
    const std::uint64_t end_ns = recovery_.last_sign_ns();
    writer_.process(sink_, end_ns, last_anchor(recovery_.copy().header()), recovery_.clock());
    write_threads(end_ns);
    announce();
    feed();
    sequencer_.advance(UINT64_MAX, end_ticks_, recovery_.clock(), [&](const SequencedOp& op) {
      end_ns_ = std::max({end_ns_, op.start_ns, op.end_ns});
      if (is_written(op)) return;
      if (op.kind != flush::OpKind::kBegin && op.outcome == TORCHTRACE_OUTCOME_ENDED &&
          (op.record.flags & core::kFlagClockStepped) != 0) {
        ++clock_stepped_;
      }
      writer_.op(sink_, op);
    });
    return receipt(std::max(end_ns, end_ns_));
  }

 private:
  void write_threads(std::uint64_t ts_ns) {
    directory_ = recovery_.own_trace().threads();
    for (const ThreadEvidence& thread : recovery_.evidence().threads) directory_.add(thread.info);
    for (const ThreadEvidence& thread : recovery_.evidence().threads) {
      writer_.thread(sink_, ts_ns, thread.info.slot);
    }
  }

  /// What the program itself had announced: repeated, since this trace may be read by itself, and
  /// closed if it has ended.
  void announce() {
    std::vector<SequencedOp> begins;
    for (const auto& [op_id, open] : recovery_.own_trace().open()) {
      SequencedOp op;
      op.kind = flush::OpKind::kBegin;
      op.start_ns = open.start_ns;
      op.parent = open.parent;
      op.record.op_id = op_id;
      op.record.parent = open.parent;
      op.record.sequence_nr = -1;
      op.record.depth = open.depth;
      op.record.scope = open.scope;
      op.record.flags = open.flags;
      op.record.name_id = recovery_.copy().find_name(open.name.c_str());
      begins.push_back(op);
    }
    std::sort(begins.begin(), begins.end(), [](const SequencedOp& left, const SequencedOp& right) {
      return left.start_ns != right.start_ns ? left.start_ns < right.start_ns
                                             : left.record.op_id < right.record.op_id;
    });
    for (SequencedOp& begin : begins) {
      sequencer_.announce(begin);
      begin.record.flags |= core::kFlagRepeated;
      writer_.op(sink_, begin);
    }
  }

  void feed() {
    for (const ThreadEvidence& thread : recovery_.evidence().threads) {
      for (const core::OpenOpCopy& op : thread.open) {
        sequencer_.add_open(op);
        end_ticks_ = std::max(end_ticks_, op.t0_ticks);
      }
    }
    for (const core::Record& record : recovery_.evidence().records) {
      end_ticks_ = std::max(end_ticks_, record.t1_ticks);
      // Beside the program's own trace, what that holds may be a parent of what it lacks.
      if (beside_ || recovery_.is_new(record)) sequencer_.add_records(&record, 1);
    }
  }

  bool is_written(const SequencedOp& op) const noexcept {
    return op.kind != flush::OpKind::kBegin && op.outcome == TORCHTRACE_OUTCOME_ENDED &&
           !recovery_.is_new(op.record);
  }

  torchtrace_receipt receipt(std::uint64_t ts_ns) const;
  void share_out_losses(torchtrace_receipt& receipt, std::uint64_t lost) const;

  const Recovery& recovery_;
  flush::Sink& sink_;
  bool beside_;
  flush::ThreadDirectory directory_;
  flush::Sequencer sequencer_;
  flush::TraceWriter writer_;
  std::uint64_t end_ticks_ = 0;
  std::uint64_t clock_stepped_ = 0;
  std::uint64_t end_ns_ = 0;
};

/// `lost` by reason: what the flush thread had counted, though a record that it had given up may
/// have been found in its ring; the rest died with it.
void Writer::share_out_losses(torchtrace_receipt& receipt, std::uint64_t lost) const {
  const core::FlushProgress& progress = recovery_.copy().header().progress;
  const auto take = [&lost](std::uint64_t counted) {
    const std::uint64_t taken = std::min(counted, lost);
    lost -= taken;
    return taken;
  };
  receipt.lost_rotated_out = take(value(progress.lost_rotated_out));
  receipt.lost_disk_full = take(value(progress.lost_disk_full));
  receipt.lost_elsewhere = take(value(progress.lost_elsewhere));
  receipt.lost_killed = lost;
}

torchtrace_receipt Writer::receipt(std::uint64_t ts_ns) const {
  const core::FlushProgress& progress = recovery_.copy().header().progress;
  const flush::Totals& totals = recovery_.evidence().totals;
  const std::uint64_t own =
      recovery_.can_look_up() ? recovery_.own_trace().written() : value(progress.written);
  const std::uint64_t recovered = sink_.counts().written;
  torchtrace_receipt receipt{};
  receipt.ts = ts_ns;
  receipt.pid = recovery_.info().pid;
  flush::put_totals(totals, receipt);
  receipt.inherited = value(progress.inherited);
  receipt.late = value(progress.late);
  receipt.names_overflowed = value(progress.names_overflowed);
  receipt.clock_stepped = value(progress.clock_stepped) + clock_stepped_;
  receipt.clock_error_ns = value(progress.clock_error_ns);
  const auto rest = static_cast<std::int64_t>(totals.started - totals.filtered - totals.dropped() -
                                              totals.open - recovered - own);
  const bool is_exact = recovery_.is_dead() && recovery_.can_look_up() && rest >= 0 &&
                        recovery_.copy().missing_buffers() == 0;
  receipt.final = is_exact ? 1 : 0;
  // While it lives, what is between ring and trace is not lost.
  if (recovery_.is_dead() && rest >= 0) {
    share_out_losses(receipt, static_cast<std::uint64_t>(rest));
  } else {
    receipt.settling = rest;
  }
  receipt.written = recovered + (beside_ ? own : 0);
  receipt.lost_elsewhere += beside_ ? 0 : own;
  receipt.recorded = receipt.written + receipt.lost_rotated_out + receipt.lost_disk_full +
                     receipt.lost_elsewhere + receipt.lost_killed;
  return receipt;
}

}  // namespace

Written write_trace(const Recovery& recovery, const std::string& directory, bool beside) {
  std::string made;
  std::string note;
  if (!flush::make_output_directory(directory, made, note) || made != directory) {
    throw Error("cannot write to " + directory + "; choose another place with -o");
  }
  Written written;
  const std::unique_ptr<flush::Sink> sink = open_sink(recovery, directory, written);
  written.receipt = Writer(recovery, *sink, beside).write();
  sink->receipt(written.receipt);
  sink->close();
  if (sink->counts().lost_disk_full != 0) {
    throw Error("cannot write all of " + written.folder + ": the disk is full");
  }
  return written;
}

}  // namespace torchtrace::recovery
