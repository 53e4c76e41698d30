#include <nlohmann/json.hpp>

#include <ostream>

#include "recover/moments_output.h"
#include "recovery/moments.h"

namespace torchtrace::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLastShown = 20;

Json thread_json(const recovery::ThreadMoments& thread) {
  Json open = Json::array();
  for (const recovery::OpenMoment& op : thread.open) {
    open.push_back({{"name", op.name},
                    {"start_ns", op.start_ns},
                    {"open_for_ns", op.open_for_ns},
                    {"depth", op.depth},
                    {"user_scope", op.is_user_scope}});
  }
  Json last = Json::array();
  for (const recovery::EndedMoment& op : thread.last) {
    last.push_back({{"name", op.name},
                    {"start_ns", op.start_ns},
                    {"dur_ns", op.dur_ns},
                    {"ended_before_ns", op.ended_before_ns}});
  }
  return {{"tid", thread.info.tid},
          {"slot", thread.info.slot},
          {"torch_thread", thread.info.torch_thread},
          {"name", thread.info.name},
          {"has_ended", thread.has_ended},
          {"started", thread.started},
          {"was_starting", thread.was_starting},
          {"open", open},
          {"last", last}};
}

#define TORCHTRACE_JSON_FIELD(kind, name) json[#name] = receipt.name;
Json receipt_json(const torchtrace_receipt& receipt) {
  Json json;
  TORCHTRACE_FIELDS_RECEIPT(TORCHTRACE_JSON_FIELD)
  return json;
}
#undef TORCHTRACE_JSON_FIELD

Json process_json(const RecoverReport& report) {
  const flush::ProcessInfo& info = report.recovery.info();
  return {{"pid", info.pid},
          {"start_time", info.start_time},
          {"is_dead", report.recovery.is_dead()},
          {"command", info.command},
          {"host", info.host},
          {"torch_version", info.torch_version},
          {"torch_path", info.torch_path},
          {"agent_version", info.agent_version},
          {"config_digest", info.config_digest},
          {"output_directory", report.recovery.output_directory()},
          {"own_trace", report.recovery.own_trace_folder()},
          {"own_trace_found", report.recovery.own_trace().is_found()},
          {"own_trace_written", report.recovery.own_trace().written()}};
}

}  // namespace

void write_moments_json(const RecoverReport& report, std::ostream& out) {
  Json threads = Json::array();
  for (const auto& thread : recovery::describe_threads(report.recovery, kLastShown)) {
    threads.push_back(thread_json(thread));
  }
  Json json = {{"schema", "torchtrace.recover/1"},
               {"mapping", report.mapping},
               {"process", process_json(report)},
               {"last_sign_ns", report.recovery.last_sign_ns()},
               {"threads", threads},
               {"missing_buffers", report.recovery.copy().missing_buffers()},
               {"trace", nullptr},
               {"receipt", nullptr}};
  if (report.written) {
    json["trace"] = report.written->folder;
    json["receipt"] = receipt_json(report.written->receipt);
  }
  // Names are whatever the program called them: what is not UTF-8 is replaced.
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace torchtrace::cli
