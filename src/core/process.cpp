#include "core/process.h"

namespace torchtrace::core {

std::atomic<Process*> g_process{nullptr};
Process* (*g_activate)() noexcept = nullptr;
std::atomic<bool> g_stopped{false};
std::atomic<std::uint64_t> g_slow_step_ticks{0};
std::atomic<std::uint64_t> g_inherited_ends{0};

}  // namespace torchtrace::core
