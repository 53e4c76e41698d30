#pragma once

#include <atomic>
#include <cstdint>

namespace torchtrace::core {

/// Reasons for which the op path may not take its short way: one word, so that it asks once.
enum Caution : std::uint32_t {
  kLayoutNotVerified = 1U << 0U,  ///< PyTorch's events are still looked at, or are not served.
  kClockIsACall = 1U << 1U,       ///< Ticks are not the CPU's counter.
};

/// Read by the op path on every event; written a few times in a process's life.
extern std::atomic<std::uint32_t> g_caution;

inline bool must_be_careful() noexcept { return g_caution.load(std::memory_order_relaxed) != 0; }

/// Thread: any.
inline void set_caution(Caution reason, bool holds) noexcept {
  if (holds) {
    g_caution.fetch_or(reason);
  } else {
    g_caution.fetch_and(~static_cast<std::uint32_t>(reason));
  }
}

}  // namespace torchtrace::core
