#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/event_handler.h"
#include "analysis/name_table.h"
#include "analysis/self_time.h"
#include "analysis/trace_model.h"

namespace torchtrace::analysis {

/// Builds a TraceModel from the events of any number of processes.
class ModelBuilder final : public EventHandler {
 public:
  ModelBuilder();
  ~ModelBuilder() override;

  void on_process(const TraceInfo& trace, const torchtrace_process& event) override;
  void on_thread(const TraceInfo& trace, const torchtrace_thread& event) override;
  void on_op(const TraceInfo& trace, const torchtrace_op& event) override;
  void on_op_begin(const TraceInfo& trace, const torchtrace_op_begin& event) override;
  void on_op_end(const TraceInfo& trace, const torchtrace_op_end& event) override;
  void on_loss(const TraceInfo& trace, const torchtrace_loss& event) override;
  void on_receipt(const TraceInfo& trace, const torchtrace_receipt& event) override;

  /// The model of all events so far; the builder is of no use afterwards.
  TraceModel finish();

 private:
  class Process;

  Process& process_of(const TraceInfo& trace, std::uint32_t pid);
  Process& new_process(const TraceInfo& trace, std::uint32_t pid);
  OperatorStats& operator_stats(std::uint32_t name);
  std::uint32_t number(const char* name) { return names_.number(name); }

  NameTable names_;
  std::vector<OperatorStats> operators_;  ///< By number of the name.
  std::vector<std::unique_ptr<Process>> processes_;
  /// (host, pid) -> the process that has that pid now: pids come round again in long runs.
  std::map<std::pair<std::uint32_t, std::uint32_t>, Process*> current_;
  Process* last_ = nullptr;  ///< Spares the search: events of one process come in runs.
  std::uint32_t last_host_ = 0;
};

}  // namespace torchtrace::analysis
