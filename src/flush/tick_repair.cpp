#include "flush/tick_repair.h"

#include <algorithm>

namespace torchtrace::flush {

namespace {

bool is_fallback(std::uint64_t ticks) noexcept { return (ticks & core::kFallbackTick) != 0; }

}  // namespace

std::uint64_t TickRepair::place(std::uint64_t ticks) const noexcept {
  if (!is_fallback(ticks)) return ticks;
  const std::uint64_t ns = ticks & ~core::kFallbackTick;
  const auto elapsed_ns = static_cast<double>(static_cast<std::int64_t>(ns - point_.monotonic_ns));
  // Within what can be converted back: recovery reads all of this from files.
  constexpr double kFarthest = 4e18;
  const double distance = std::clamp(elapsed_ns * point_.ticks_per_ns, -kFarthest, kFarthest);
  return point_.ticks + static_cast<std::uint64_t>(static_cast<std::int64_t>(distance));
}

std::uint64_t TickRepair::estimate() const noexcept {
  return point_.good_ticks + (point_.ticks - point_.good_ticks) / 2;
}

/// A counter that ran backward shows times that were good; the count of starts cannot.
bool TickRepair::is_doubtful_start(std::uint64_t op_id, std::uint64_t ticks) const noexcept {
  if (is_fallback(ticks)) return false;
  if (ticks > point_.good_ticks) return true;
  if (!starts_) return false;
  const auto found = starts_->find(core::OpId::slot(op_id));
  return found == starts_->end() || core::OpId::count(op_id) > found->second;
}

void TickRepair::repair(core::Record& record) const noexcept {
  const bool bad_start = is_doubtful_start(record.op_id, record.t0_ticks);
  const bool bad_end = !is_fallback(record.t1_ticks) &&
                       (bad_start || ends_are_new_ || record.t1_ticks > point_.good_ticks ||
                        record.t1_ticks < record.t0_ticks);
  const std::uint64_t t0_ticks = bad_start ? estimate() : place(record.t0_ticks);
  record.t1_ticks = std::max(bad_end ? estimate() : place(record.t1_ticks), t0_ticks);
  record.t0_ticks = t0_ticks;
  if (bad_start || bad_end) record.flags |= core::kFlagClockStepped;
}

void TickRepair::repair(core::OpenOpCopy& op) const noexcept {
  const bool is_bad = is_doubtful_start(op.op_id, op.t0_ticks);
  op.t0_ticks = is_bad ? estimate() : place(op.t0_ticks);
  if (is_bad) op.flags |= core::kFlagClockStepped;
}

void TickRepair::repair(core::OpenOp& op) const noexcept {
  const std::uint64_t ticks = op.t0_ticks.load(std::memory_order_relaxed);
  const bool is_bad = is_doubtful_start(op.op_id.load(std::memory_order_relaxed), ticks);
  op.t0_ticks.store(is_bad ? estimate() : place(ticks), std::memory_order_relaxed);
  if (is_bad) op.info.fetch_or(core::kFlagClockStepped, std::memory_order_relaxed);
}

}  // namespace torchtrace::flush
