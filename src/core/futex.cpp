#include "core/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace torchtrace::core {

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                std::uint64_t ns) noexcept {
  constexpr std::uint64_t kSecond_ns = 1'000'000'000;
  timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(ns / kSecond_ns);
  timeout.tv_nsec = static_cast<long>(ns % kSecond_ns);
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, &timeout, nullptr, 0);
}

void futex_wake_all(std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
}

}  // namespace torchtrace::core
