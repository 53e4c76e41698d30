#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/trace_model.h"

namespace torchtrace::analysis {

/// One counter of the receipt: its name in reports, and its field.
struct ReceiptReason {
  const char* name;
  std::uint64_t torchtrace_receipt::*field;
};

/// Why operators were dropped, and why records were lost, in the order of the receipt.
const std::vector<ReceiptReason>& drop_reasons();
const std::vector<ReceiptReason>& loss_reasons();

/// Adds the counts of `receipt` to those of `total`.
void add_receipt(torchtrace_receipt& total, const torchtrace_receipt& receipt);

/// Whether the numbers of one process, or of all, add up. A difference is what the left side has
/// more.
struct ReceiptCheck {
  bool is_final = false;  ///< All processes left an exact last receipt.
  /// started - (recorded + filtered + sampled_out + dropped + open + settling)
  std::int64_t started_difference = 0;
  /// recorded - (written + lost), by the agent's own count of what it wrote.
  std::int64_t recorded_difference = 0;
  /// What the agent had written when it made the receipt - what was read up to it.
  std::int64_t written_difference = 0;
  /// The part of that difference which LTTng says it discarded; unknown where it discarded
  /// something and the process left no receipt to say how much of it were operators.
  std::optional<std::uint64_t> lost_lttng = 0;

  bool holds() const noexcept;
};

/// `discarded`: LTTng reported discarded events or packets, in any trace read.
/// Without a receipt nothing can be checked: no difference, not final.
ReceiptCheck check_receipt(const ProcessStats& process, bool discarded);

/// The sum over all processes.
ReceiptCheck check_receipts(const TraceModel& model);

/// The sum of all receipts; `settling` of the periodic ones included. Nothing where a process left
/// none.
std::optional<torchtrace_receipt> sum_receipts(const TraceModel& model);

/// The sum over the processes that left a receipt.
torchtrace_receipt sum_known_receipts(const TraceModel& model);

}  // namespace torchtrace::analysis
