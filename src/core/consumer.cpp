#include "core/consumer.h"

#include "core/errno_guard.h"
#include "core/futex.h"

namespace torchtrace::core {

void Consumer::wake(WakeReason reason) noexcept {
  const ErrnoGuard keep_errno;
  if ((reasons_.fetch_or(reason) & reason) == 0) futex_wake_all(reasons_);
}

void Consumer::sleep(std::uint64_t ns) noexcept {
  if (reasons_.load() == 0) futex_wait(reasons_, 0, ns);
}

bool Consumer::take(WakeReason reason) noexcept {
  if (reason == kWakeToFinish) return (reasons_.load() & kWakeToFinish) != 0;
  return (reasons_.fetch_and(~static_cast<std::uint32_t>(reason)) & reason) != 0;
}

void Consumer::has_drained() noexcept {
  round_.fetch_add(1);
  if (waiting_.load() != 0) futex_wake_all(round_);
}

void Consumer::wait_for_drain(std::uint32_t round, std::uint64_t ns) noexcept {
  waiting_.fetch_add(1);
  futex_wait(round_, round, ns);
  waiting_.fetch_sub(1);
}

}  // namespace torchtrace::core
