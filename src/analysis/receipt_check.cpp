#include "analysis/receipt_check.h"

#include <algorithm>

namespace torchtrace::analysis {
namespace {

std::uint64_t sum(const torchtrace_receipt& receipt, const std::vector<ReceiptReason>& reasons) {
  std::uint64_t total = 0;
  for (const ReceiptReason& reason : reasons) {
    total += receipt.*reason.field;
  }
  return total;
}

std::int64_t difference(std::uint64_t left, std::uint64_t right) {
  return static_cast<std::int64_t>(left - right);
}

}  // namespace

void add_receipt(torchtrace_receipt& total, const torchtrace_receipt& receipt) {
  using Field = std::uint64_t torchtrace_receipt::*;
  static constexpr Field kSummed[] = {&torchtrace_receipt::started,
                                      &torchtrace_receipt::recorded,
                                      &torchtrace_receipt::filtered,
                                      &torchtrace_receipt::sampled_out,
                                      &torchtrace_receipt::open,
                                      &torchtrace_receipt::inherited,
                                      &torchtrace_receipt::late,
                                      &torchtrace_receipt::written,
                                      &torchtrace_receipt::names_overflowed,
                                      &torchtrace_receipt::clock_stepped};
  for (const Field field : kSummed) {
    total.*field += receipt.*field;
  }
  for (const auto* reasons : {&drop_reasons(), &loss_reasons()}) {
    for (const ReceiptReason& reason : *reasons) {
      total.*reason.field += receipt.*reason.field;
    }
  }
  total.settling += receipt.settling;
  total.clock_error_ns = std::max(total.clock_error_ns, receipt.clock_error_ns);
}

const std::vector<ReceiptReason>& drop_reasons() {
  static const std::vector<ReceiptReason> kReasons = {
      {"ring_full", &torchtrace_receipt::dropped_ring_full},
      {"too_deep", &torchtrace_receipt::dropped_too_deep},
      {"no_scope", &torchtrace_receipt::dropped_no_scope},
      {"no_buffer", &torchtrace_receipt::dropped_no_buffer},
      {"abandoned", &torchtrace_receipt::dropped_abandoned},
      {"block_timeout", &torchtrace_receipt::dropped_block_timeout},
      {"overwritten", &torchtrace_receipt::dropped_overwritten}};
  return kReasons;
}

const std::vector<ReceiptReason>& loss_reasons() {
  static const std::vector<ReceiptReason> kReasons = {
      {"disk_full", &torchtrace_receipt::lost_disk_full},
      {"rotated_out", &torchtrace_receipt::lost_rotated_out},
      {"elsewhere", &torchtrace_receipt::lost_elsewhere},
      {"killed", &torchtrace_receipt::lost_killed}};
  return kReasons;
}

bool ReceiptCheck::holds() const noexcept {
  return started_difference == 0 && recorded_difference == 0 &&
         written_difference == static_cast<std::int64_t>(lost_lttng.value_or(0));
}

ReceiptCheck check_receipt(const ProcessStats& process, bool discarded) {
  ReceiptCheck check;
  if (!process.receipt) {
    check.lost_lttng = discarded ? std::nullopt : std::optional<std::uint64_t>(0);
    return check;
  }
  const torchtrace_receipt& receipt = *process.receipt;
  check.is_final = receipt.final != 0;
  check.started_difference =
      difference(receipt.started, receipt.recorded + receipt.filtered + receipt.sampled_out +
                                      sum(receipt, drop_reasons()) + receipt.open +
                                      static_cast<std::uint64_t>(receipt.settling));
  check.recorded_difference =
      difference(receipt.recorded, receipt.written + sum(receipt, loss_reasons()));
  check.written_difference = difference(receipt.written, process.read_at_receipt);
  if (discarded && check.written_difference > 0) {
    check.lost_lttng = static_cast<std::uint64_t>(check.written_difference);
  }
  return check;
}

ReceiptCheck check_receipts(const TraceModel& model) {
  ReceiptCheck total;
  total.is_final = true;
  for (const ProcessStats& process : model.processes) {
    const ReceiptCheck check = check_receipt(process, model.read.lttng_discarded());
    total.is_final = total.is_final && check.is_final;
    total.started_difference += check.started_difference;
    total.recorded_difference += check.recorded_difference;
    total.written_difference += check.written_difference;
    total.lost_lttng = total.lost_lttng && check.lost_lttng
                           ? std::optional<std::uint64_t>(*total.lost_lttng + *check.lost_lttng)
                           : std::nullopt;
  }
  return total;
}

torchtrace_receipt sum_known_receipts(const TraceModel& model) {
  torchtrace_receipt total{};
  for (const ProcessStats& process : model.processes) {
    if (process.receipt) {
      add_receipt(total, *process.receipt);
    }
  }
  return total;
}

std::optional<torchtrace_receipt> sum_receipts(const TraceModel& model) {
  const bool all = std::all_of(model.processes.begin(), model.processes.end(),
                               [](const ProcessStats& process) { return process.receipt; });
  return all ? std::optional<torchtrace_receipt>(sum_known_receipts(model)) : std::nullopt;
}

}  // namespace torchtrace::analysis
