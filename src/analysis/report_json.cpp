#include "analysis/report_json.h"

#include <nlohmann/json.hpp>

#include <ostream>

#include "analysis/notes.h"
#include "analysis/receipt_check.h"

namespace torchtrace::analysis {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "torchtrace.report/1";

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json or_null_if_negative(std::int64_t value) { return value < 0 ? Json(nullptr) : Json(value); }

Json reasons_json(const torchtrace_receipt& receipt, const std::vector<ReceiptReason>& reasons) {
  Json json = Json::object();
  for (const ReceiptReason& reason : reasons) {
    json[reason.name] = receipt.*reason.field;
  }
  return json;
}

/// GPU commands are not traced: nothing is known about them.
Json unknown_commands_json() {
  return {{"appended", nullptr},
          {"timed", nullptr},
          {"untimed", Json::object()},
          {"pending", nullptr},
          {"unattributed_ns", nullptr}};
}

/// `receipt`: the sum over what left one (its drops are never null); `known`: that was everything.
Json receipt_json(const torchtrace_receipt& receipt, bool known, const ReceiptCheck& check,
                  std::uint64_t read) {
  const auto count = [known](std::uint64_t value) { return known ? Json(value) : Json(nullptr); };
  Json json;
  json["final"] = check.is_final;
  json["started"] = count(receipt.started);
  json["recorded"] = count(receipt.recorded);
  json["filtered"] = {{"names", receipt.filtered}};
  json["sampled_out"] = count(receipt.sampled_out);
  json["dropped"] = reasons_json(receipt, drop_reasons());
  json["open"] = count(receipt.open);
  json["settling"] = known ? Json(receipt.settling) : Json(nullptr);
  json["inherited"] = count(receipt.inherited);
  json["late"] = count(receipt.late);
  json["written"] = read;
  json["written_by_agent"] = count(receipt.written);
  json["lost"] = {{"lttng", or_null(check.lost_lttng)},
                  {"disk_full", count(receipt.lost_disk_full)},
                  {"rotated_out", count(receipt.lost_rotated_out)},
                  {"elsewhere", count(receipt.lost_elsewhere)},
                  {"killed", count(receipt.lost_killed)}};
  json["commands"] = unknown_commands_json();
  json["not_seen"] = Json::array();
  json["names_overflowed"] = count(receipt.names_overflowed);
  json["clock_stepped"] = count(receipt.clock_stepped);
  json["clock_error_ns"] = count(receipt.clock_error_ns);
  json["checks"] = {
      {"started_difference", known ? Json(check.started_difference) : Json(nullptr)},
      {"recorded_difference", known ? Json(check.recorded_difference) : Json(nullptr)},
      {"written_difference", known ? Json(check.written_difference) : Json(nullptr)}};
  return json;
}

Json operator_json(const OperatorRow& row, bool commands_known) {
  return {{"name", row.name},
          {"calls", row.calls},
          {"estimated_calls", nullptr},
          {"estimated_total_ns", nullptr},
          {"standard_error", nullptr},
          {"total_ns", row.total_ns},
          {"self_ns", row.self_ns},
          {"mean_ns", row.mean_ns},
          {"min_ns", row.min_ns},
          {"p50_ns", row.p50_ns},
          {"p99_ns", row.p99_ns},
          {"max_ns", row.max_ns},
          {"commands", commands_known ? Json(row.commands) : Json(nullptr)},
          {"device_ns", nullptr},
          {"device_total_ns", nullptr}};
}

Json thread_json(const ThreadStats& thread) {
  return {{"slot", thread.slot},
          {"tid", or_null(thread.tid)},
          {"torch_thread", or_null(thread.torch_thread)},
          {"name", thread.name.empty() ? Json(nullptr) : Json(thread.name)},
          {"calls", thread.calls},
          {"self_ns", thread.self_ns}};
}

Json open_json(const OpenOperator& op) {
  return {{"name", op.name}, {"op_id", op.op_id}, {"slot", op.slot}, {"start_ns", op.start_ns}};
}

/// A string that the agent did not know is "unknown" in the trace, and null here.
Json info_string(const std::optional<ProcessInfo>& info, std::string ProcessInfo::*member) {
  return info && (*info).*member != "unknown" ? Json((*info).*member) : Json(nullptr);
}

Json process_json(const ProcessStats& process, bool discarded) {
  Json json;
  json["pid"] = process.pid;
  json["start_time"] = or_null(process.start_time);
  json["host"] = info_string(process.info, &ProcessInfo::host);
  json["rank"] = process.info ? or_null_if_negative(process.info->rank) : Json(nullptr);
  json["world_size"] = process.info ? or_null_if_negative(process.info->world_size) : Json(nullptr);
  json["command"] = info_string(process.info, &ProcessInfo::command);
  json["torch_version"] = info_string(process.info, &ProcessInfo::torch_version);
  json["torch_path"] = info_string(process.info, &ProcessInfo::torch_path);
  json["agent_version"] = info_string(process.info, &ProcessInfo::agent_version);
  json["config_digest"] = info_string(process.info, &ProcessInfo::config_digest);
  json["clock"] = info_string(process.info, &ProcessInfo::clock);
  json["receipt"] =
      receipt_json(process.receipt.value_or(torchtrace_receipt{}), process.receipt.has_value(),
                   check_receipt(process, discarded), process.read);
  json["missing_parents"] = process.missing_parents;
  json["threads"] = Json::array();
  for (const ThreadStats& thread : process.threads) {
    json["threads"].push_back(thread_json(thread));
  }
  json["open_operators"] = Json::array();
  for (const OpenOperator& op : process.open) {
    json["open_operators"].push_back(open_json(op));
  }
  return json;
}

Json trace_json(const TraceSummary& trace) {
  const auto known = [&trace](std::uint64_t count) {
    return trace.discarded_unknown ? Json(nullptr) : Json(count);
  };
  return {{"path", trace.info.path},
          {"host", trace.info.host.empty() ? Json(nullptr) : Json(trace.info.host)},
          {"tracer", trace.info.tracer.empty() ? Json(nullptr) : Json(trace.info.tracer)},
          {"events", trace.events},
          {"torchtrace_events", trace.torchtrace_events},
          {"discarded_events", known(trace.discarded_events)},
          {"discarded_packets", known(trace.discarded_packets)}};
}

}  // namespace

void write_json_report(TraceModel& model, SortKey sort, std::ostream& out) {
  std::uint64_t read = 0;
  Json processes = Json::array();
  for (const ProcessStats& process : model.processes) {
    read += process.read;
    processes.push_back(process_json(process, model.read.lttng_discarded()));
  }
  Json json;
  json["schema"] = kSchema;
  json["receipt"] = receipt_json(sum_known_receipts(model), sum_receipts(model).has_value(),
                                 check_receipts(model), read);
  json["processes"] = std::move(processes);
  json["operators"] = Json::array();
  const std::vector<OperatorRow> rows = make_operator_rows(model, sort);
  // Without any, nothing says whether commands were counted at all.
  const bool commands_known = std::any_of(rows.begin(), rows.end(),
                                          [](const OperatorRow& row) { return row.commands != 0; });
  for (const OperatorRow& row : rows) {
    json["operators"].push_back(operator_json(row, commands_known));
  }
  json["commands"] = Json::array();
  json["traces"] = Json::array();
  for (const TraceSummary& trace : model.read.traces) {
    json["traces"].push_back(trace_json(trace));
  }
  json["notes"] = make_notes(model);
  // Names of operators are what programs made them: bytes that are no UTF-8 are replaced.
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace torchtrace::analysis
