#include "fakes/synthetic_process.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace torchtrace::fakes {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

/// Something to emit: operator `index` begins (whole, or its op_begin) or ends (its op_end).
struct Moment {
  std::uint64_t emit_ns;  ///< Order of emission.
  std::size_t index;
  enum class Kind { kOp, kLateOp, kBegin, kEnd } kind;
};

class Process {
 public:
  Process(const std::vector<SyntheticOperator>& operators, const SyntheticProcessOptions& options,
          flush::Sink& sink)
      : operators_(operators), options_(options), sink_(sink) {}

  std::uint64_t run() {
    if (operators_.empty()) return 0;
    now_ns_ = operators_.front().begin_ns;
    next_period_ns_ = now_ns_ + options_.period_ns;
    next_second_ns_ = now_ns_;
    for (const Moment& moment : schedule()) {
      pass_time(moment.emit_ns);
      emit(moment);
    }
    if (!options_.killed) emit_receipt(true);
    return handed_in_;
  }

 private:
  std::vector<Moment> schedule() const {
    std::vector<Moment> moments;
    for (std::size_t i = 0; i < operators_.size(); ++i) schedule(i, moments);
    std::stable_sort(moments.begin(), moments.end(),
                     [](const Moment& a, const Moment& b) { return a.emit_ns < b.emit_ns; });
    return moments;
  }

  void schedule(std::size_t i, std::vector<Moment>& moments) const {
    const SyntheticOperator& op = operators_[i];
    if (op.end_ns - op.begin_ns > options_.hold_ns) {
      moments.push_back({op.begin_ns, i, Moment::Kind::kBegin});
      if (!options_.killed) moments.push_back({op.end_ns, i, Moment::Kind::kEnd});
      return;
    }
    const bool late =
        options_.late_every != 0 && i % options_.late_every == options_.late_every - 1;
    moments.push_back({late ? op.begin_ns + options_.period_ns : op.begin_ns, i,
                       late ? Moment::Kind::kLateOp : Moment::Kind::kOp});
  }

  void pass_time(std::uint64_t until_ns) {
    if (now_ns_ >= next_second_ns_) each_second();
    for (; next_period_ns_ <= until_ns; next_period_ns_ += options_.period_ns) {
      if (options_.real_time) {
        std::this_thread::sleep_for(std::chrono::nanoseconds(options_.period_ns));
      }
      sink_.end_of_period(next_period_ns_ + options_.hold_ns);
      if (sink_.wants_state()) emit_state();
    }
    now_ns_ = std::max(now_ns_, until_ns);
  }

  void each_second() {
    const bool first = next_second_ns_ == operators_.front().begin_ns;
    next_second_ns_ += kSecondNs;
    emit_state();
    if (!first) emit_receipt(false);
  }

  void emit(const Moment& moment) {
    const SyntheticOperator& op = operators_[moment.index];
    switch (moment.kind) {
      case Moment::Kind::kBegin:
        open_.push_back(moment.index);
        ++started_;
        return emit_begin(op, core::kFlagNone);
      case Moment::Kind::kEnd:
        open_.erase(std::find(open_.begin(), open_.end(), moment.index));
        ++handed_in_;
        return emit_end(op);
      case Moment::Kind::kLateOp:
        ++late_;
        [[fallthrough]];
      case Moment::Kind::kOp:
        ++started_;
        ++handed_in_;
        return emit_op(op,
                       moment.kind == Moment::Kind::kLateOp ? core::kFlagLate : core::kFlagNone);
    }
  }

  std::uint32_t tid(std::uint32_t slot) const { return options_.pid + slot - kMainSlot; }

  void emit_op(const SyntheticOperator& op, std::uint8_t flags) {
    const std::uint32_t op_tid = tid(op.slot);
    sink_.op({op.begin_ns, op.end_ns - op.begin_ns, options_.pid, op_tid, op_tid, op.op_id,
              op.parent, op.sequence_nr, op.forward_thread, 0, op.depth,
              static_cast<std::uint8_t>(op.scope), flags, op.name});
  }

  void emit_begin(const SyntheticOperator& op, std::uint8_t flags) {
    sink_.op_begin({op.begin_ns, options_.pid, tid(op.slot), op.op_id, op.parent, op.depth,
                    static_cast<std::uint8_t>(op.scope), flags, op.name});
  }

  void emit_end(const SyntheticOperator& op) {
    const std::uint32_t op_tid = tid(op.slot);
    sink_.op_end({op.end_ns, op.end_ns - op.begin_ns, options_.pid, op_tid, op_tid, op.op_id,
                  op.parent, op.sequence_nr, op.forward_thread, 0, op.depth,
                  static_cast<std::uint8_t>(op.scope), core::kFlagNone, TORCHTRACE_OUTCOME_ENDED,
                  op.name});
  }

  void emit_state() {
    torchtrace_process process{};
    process.ts = now_ns_;
    process.pid = options_.pid;
    process.rank = process.world_size = -1;
    process.host = "synthetic";
    process.command = "make_trace";
    process.torch_version = process.torch_path = process.torch_layout = "none";
    process.agent_version = process.config_digest = "synthetic";
    process.clock = "monotonic";
    process.clock_hz = kSecondNs;
    process.anchor_ticks = process.anchor_monotonic_ns = now_ns_;
    process.hold_ns = options_.hold_ns;
    process.period_ns = options_.period_ns;
    sink_.process(process);
    sink_.thread({now_ns_, options_.pid, tid(kMainSlot), kMainSlot, 1, "python"});
    sink_.thread({now_ns_, options_.pid, tid(kBackwardSlot), kBackwardSlot, 2, "pt_autograd_0"});
    for (const std::size_t index : open_) emit_begin(operators_[index], core::kFlagRepeated);
  }

  void emit_receipt(bool final) {
    const flush::Sink::Counts counts = sink_.counts();
    torchtrace_receipt receipt{};
    receipt.ts = now_ns_;
    receipt.pid = options_.pid;
    receipt.final = final ? 1 : 0;
    receipt.started = started_;
    receipt.recorded = handed_in_;
    receipt.open = open_.size();
    receipt.late = late_;
    receipt.written = counts.written;
    receipt.lost_disk_full = counts.lost_disk_full;
    receipt.lost_rotated_out = counts.lost_rotated_out;
    receipt.lost_elsewhere = counts.lost_elsewhere;
    sink_.receipt(receipt);
  }

  const std::vector<SyntheticOperator>& operators_;
  SyntheticProcessOptions options_;
  flush::Sink& sink_;
  std::uint64_t now_ns_ = 0;
  std::uint64_t next_period_ns_ = 0;
  std::uint64_t next_second_ns_ = 0;
  std::vector<std::size_t> open_;
  std::uint64_t started_ = 0;
  std::uint64_t handed_in_ = 0;
  std::uint64_t late_ = 0;
};

}  // namespace

std::uint64_t emit_as_process(const std::vector<SyntheticOperator>& operators,
                              const SyntheticProcessOptions& options, flush::Sink& sink) {
  return Process(operators, options, sink).run();
}

}  // namespace torchtrace::fakes
