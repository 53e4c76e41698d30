#include "analysis/model_builder.h"

#include <algorithm>

#include "analysis/receipt_check.h"
#include "analysis/trace_error.h"
#include "core/record.h"

namespace torchtrace::analysis {
namespace {

/// How long ended operators wait for late events, as a multiple of what the flush thread holds
/// back.
constexpr std::uint64_t kGracePeriods = 2;

/// The slot is taken from the op_id: the thread that started the operator, whoever ended it.
template <typename Event>
TrackedOp tracked(const Event& event, std::uint64_t start_ns, std::uint64_t end_ns,
                  std::uint32_t name) {
  TrackedOp op;
  op.op_id = event.op_id;
  op.parent = event.parent;
  op.start_ns = start_ns;
  op.end_ns = end_ns;
  op.name = name;
  op.slot = core::OpId::slot(event.op_id);
  return op;
}

bool is_late(std::uint8_t flags) { return (flags & core::kFlagLate) != 0; }

}  // namespace

/// One process while its events are read.
class ModelBuilder::Process final : public SelfTimeTracker::Listener {
 public:
  Process(ModelBuilder& builder, std::uint32_t pid) : tracker(*this), builder_(builder) {
    stats.pid = pid;
  }

  void on_self_time(const TrackedOp& op, std::uint64_t self_ns) override {
    builder_.operator_stats(op.name).self_ns += self_ns;
    thread(op.slot).self_ns += self_ns;
  }

  ThreadStats& thread(std::uint32_t slot) {
    if (slot < stats.threads.size() && stats.threads[slot].slot == slot) {
      return stats.threads[slot];
    }
    const auto after = std::lower_bound(
        stats.threads.begin(), stats.threads.end(), slot,
        [](const ThreadStats& thread, std::uint32_t wanted) { return thread.slot < wanted; });
    if (after != stats.threads.end() && after->slot == slot) {
      return *after;
    }
    ThreadStats added;
    added.slot = slot;
    return *stats.threads.insert(after, added);
  }

  /// Counts one recorded call.
  template <typename Event>
  void count(const Event& event, const TrackedOp& op) {
    OperatorStats& operator_stats = builder_.operator_stats(op.name);
    operator_stats.durations.add(event.dur);
    operator_stats.commands += event.commands;
    ThreadStats& thread_stats = thread(op.slot);
    ++thread_stats.calls;
    thread_stats.tid = event.tid;
    ++stats.read;
  }

  /// False where the event cannot be used.
  template <typename Event>
  bool accept(const Event& event) {
    stats.late += is_late(event.flags) ? 1 : 0;
    stats.malformed += event.op_id == 0 ? 1 : 0;
    return event.op_id != 0;
  }

  void finish(const NameTable& names) {
    tracker.finish();
    stats.missing_parents = tracker.missing_parents();
    for (const TrackedOp& op : tracker.open_ops()) {
      stats.open.push_back({names.name(op.name), op.op_id, op.start_ns, op.slot});
    }
  }

  ProcessStats stats;
  SelfTimeTracker tracker;

 private:
  ModelBuilder& builder_;
};

ModelBuilder::ModelBuilder() = default;
ModelBuilder::~ModelBuilder() = default;

ModelBuilder::Process& ModelBuilder::new_process(const TraceInfo& trace, std::uint32_t pid) {
  processes_.push_back(std::make_unique<Process>(*this, pid));
  current_[{trace.host_id, pid}] = processes_.back().get();
  return *processes_.back();
}

ModelBuilder::Process& ModelBuilder::process_of(const TraceInfo& trace, std::uint32_t pid) {
  if (last_ == nullptr || last_->stats.pid != pid || last_host_ != trace.host_id) {
    const auto known = current_.find({trace.host_id, pid});
    last_ = known != current_.end() ? known->second : &new_process(trace, pid);
    last_host_ = trace.host_id;
  }
  return *last_;
}

OperatorStats& ModelBuilder::operator_stats(std::uint32_t name) {
  while (operators_.size() <= name) {
    OperatorStats added;
    added.name = names_.name(static_cast<std::uint32_t>(operators_.size()));
    operators_.push_back(std::move(added));
  }
  return operators_[name];
}

void ModelBuilder::on_process(const TraceInfo& trace, const torchtrace_process& event) {
  Process* process = &process_of(trace, event.pid);
  if (process->stats.start_time.value_or(event.start_time) != event.start_time) {
    process = last_ = &new_process(trace, event.pid);
  }
  ProcessStats& stats = process->stats;
  stats.start_time = event.start_time;
  stats.info =
      ProcessInfo{event.host,         event.command,       event.torch_version, event.torch_path,
                  event.torch_layout, event.agent_version, event.config_digest, event.clock,
                  event.rank,         event.world_size,    event.clock_hz,      event.hold_ns,
                  event.period_ns};
  process->tracker.raise_grace_ns(kGracePeriods * (event.hold_ns + event.period_ns));
}

void ModelBuilder::on_thread(const TraceInfo& trace, const torchtrace_thread& event) {
  ThreadStats& stats = process_of(trace, event.pid).thread(event.slot);
  stats.tid = event.tid;
  stats.torch_thread = event.torch_thread;
  stats.name = event.name;
}

void ModelBuilder::on_op(const TraceInfo& trace, const torchtrace_op& event) {
  Process& process = process_of(trace, event.pid);
  if (!process.accept(event)) {
    return;
  }
  const TrackedOp op = tracked(event, event.ts, event.ts + event.dur, number(event.name));
  if (process.tracker.add(op)) {
    process.count(event, op);
  }
}

void ModelBuilder::on_op_begin(const TraceInfo& trace, const torchtrace_op_begin& event) {
  Process& process = process_of(trace, event.pid);
  if (process.accept(event)) {
    process.tracker.begin(tracked(event, event.ts, 0, number(event.name)));
  }
}

void ModelBuilder::on_op_end(const TraceInfo& trace, const torchtrace_op_end& event) {
  Process& process = process_of(trace, event.pid);
  if (!process.accept(event)) {
    return;
  }
  const bool recorded = event.outcome == TORCHTRACE_OUTCOME_ENDED;
  const TrackedOp op = tracked(event, event.ts - event.dur, event.ts, number(event.name));
  const bool is_new = process.tracker.end(op, recorded);
  if (is_new && recorded) {
    process.count(event, op);
  } else if (is_new && event.outcome < std::size(process.stats.left_out)) {
    ++process.stats.left_out[event.outcome];
  }
}

void ModelBuilder::on_loss(const TraceInfo& trace, const torchtrace_loss& event) {
  process_of(trace, event.pid).stats.losses.push_back({event.reason, event.count, event.tid});
}

void ModelBuilder::on_receipt(const TraceInfo& trace, const torchtrace_receipt& event) {
  ProcessStats& stats = process_of(trace, event.pid).stats;
  // The dumps of one flight recorder: each counts from the one before.
  if (stats.receipt && stats.receipt->final != 0 && event.final != 0 &&
      stats.receipt->ts != event.ts) {
    torchtrace_receipt sum = event;
    add_receipt(sum, *stats.receipt);
    stats.receipt = sum;
  } else {
    stats.receipt = event;
  }
  stats.read_at_receipt = stats.read;
}

TraceModel ModelBuilder::finish() {
  TraceModel model;
  for (const auto& process : processes_) {
    process->finish(names_);
    model.processes.push_back(std::move(process->stats));
  }
  for (OperatorStats& stats : operators_) {
    if (stats.durations.count() != 0) {
      model.operators.push_back(std::move(stats));
    }
  }
  return model;
}

TraceModel load_model(const std::string& directory) {
  ModelBuilder builder;
  const ReadSummary summary = read_traces(directory, builder);
  if (summary.torchtrace_events() == 0) {
    throw TraceError(!summary.missing.empty()
                         ? summary.missing.front()
                         : "the trace '" + directory +
                               "' holds no event of torchtrace: did the program run a PyTorch "
                               "operator, and did the session enable 'torchtrace:*'?");
  }
  TraceModel model = builder.finish();
  model.read = summary;
  return model;
}

}  // namespace torchtrace::analysis
