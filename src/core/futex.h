#pragma once

#include <atomic>
#include <cstdint>

namespace torchtrace::core {

/// Sleeps while `word` is `expected`, at most `ns`; may wake early for no reason. Private to the
/// process. Thread: any. errno is not kept.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                std::uint64_t ns) noexcept;

/// Wakes all that sleep on `word`. Thread: any; async-signal-safe. errno is not kept.
void futex_wake_all(std::atomic<std::uint32_t>& word) noexcept;

}  // namespace torchtrace::core
