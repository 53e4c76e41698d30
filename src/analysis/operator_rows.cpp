#include "analysis/operator_rows.h"

#include <algorithm>

namespace torchtrace::analysis {
namespace {

double sort_value(const OperatorRow& row, SortKey key) {
  switch (key) {
    case SortKey::kSelf:
      return static_cast<double>(row.self_ns);
    case SortKey::kTotal:
      return static_cast<double>(row.total_ns);
    case SortKey::kCalls:
      return static_cast<double>(row.calls);
    case SortKey::kMean:
      return row.mean_ns;
    case SortKey::kMin:
      return static_cast<double>(row.min_ns);
    case SortKey::kP50:
      return static_cast<double>(row.p50_ns);
    case SortKey::kP99:
      return static_cast<double>(row.p99_ns);
    case SortKey::kMax:
      return static_cast<double>(row.max_ns);
    case SortKey::kName:
      break;
  }
  return 0;
}

OperatorRow make_row(OperatorStats& stats) {
  Durations& durations = stats.durations;
  OperatorRow row;
  row.name = stats.name;
  row.calls = durations.count();
  row.total_ns = durations.total_ns();
  row.self_ns = stats.self_ns;
  row.mean_ns = durations.mean_ns();
  row.min_ns = durations.min_ns();
  row.p50_ns = durations.percentile_ns(50);
  row.p99_ns = durations.percentile_ns(99);
  row.max_ns = durations.max_ns();
  row.commands = stats.commands;
  return row;
}

}  // namespace

const std::vector<std::string>& sort_key_names() {
  static const std::vector<std::string> kNames = {"self", "total", "calls", "mean", "min",
                                                  "p50",  "p99",   "max",   "name"};
  return kNames;
}

std::optional<SortKey> parse_sort_key(std::string_view name) {
  const auto& names = sort_key_names();
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? std::nullopt
                              : std::optional(static_cast<SortKey>(found - names.begin()));
}

std::vector<OperatorRow> make_operator_rows(TraceModel& model, SortKey key) {
  std::vector<OperatorRow> rows;
  rows.reserve(model.operators.size());
  for (OperatorStats& stats : model.operators) {
    rows.push_back(make_row(stats));
  }
  std::sort(rows.begin(), rows.end(), [key](const OperatorRow& a, const OperatorRow& b) {
    const double left = sort_value(a, key);
    const double right = sort_value(b, key);
    return left != right ? left > right : a.name < b.name;
  });
  return rows;
}

}  // namespace torchtrace::analysis
