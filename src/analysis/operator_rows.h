#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/trace_model.h"

namespace torchtrace::analysis {

/// One line of the operator table.
struct OperatorRow {
  std::string name;
  std::uint64_t calls = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t self_ns = 0;
  double mean_ns = 0;
  std::uint64_t min_ns = 0;
  std::uint64_t p50_ns = 0;
  std::uint64_t p99_ns = 0;
  std::uint64_t max_ns = 0;
  std::uint64_t commands = 0;
};

/// What operators are sorted by: the largest first, names from A to Z.
enum class SortKey { kSelf, kTotal, kCalls, kMean, kMin, kP50, kP99, kMax, kName };

/// The names that `parse_sort_key` knows, in the order of SortKey.
const std::vector<std::string>& sort_key_names();
std::optional<SortKey> parse_sort_key(std::string_view name);

/// The table of all operators, sorted; ties by name.
std::vector<OperatorRow> make_operator_rows(TraceModel& model, SortKey key);

}  // namespace torchtrace::analysis
