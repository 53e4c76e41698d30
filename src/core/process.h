#pragma once

#include <atomic>
#include <cstdint>

#include "core/consumer.h"
#include "core/mapping.h"
#include "core/names.h"
#include "core/thread_registry.h"

namespace torchtrace::core {

/// Everything that op threads and the flush thread share in one process that records. A forked
/// child gets its own at its first operator. Owner: leaked on purpose.
struct Process {
  Mapping mapping;
  NameTable names;
  ThreadRegistry threads;
  Consumer consumer;
};

/// The process's own, or nullptr before its first operator, and when nothing is to be recorded.
extern std::atomic<Process*> g_process;

/// Makes `g_process` at the process's first operator: set by the agent before a callback is
/// registered. Called on an op thread; returns nullptr where nothing is to be recorded.
extern Process* (*g_activate)() noexcept;

/// Set for good when the final drain begins: operators from then on are not served.
extern std::atomic<bool> g_stopped;

/// Between two ends of a training step on one thread: more is slow, and has the flight recorder
/// dump. Ticks; 0, as usual: nobody asks. Set by the flight recorder.
extern std::atomic<std::uint64_t> g_slow_step_ticks;

/// Ends of operators that were open when this process was forked: they belong to its parent.
extern std::atomic<std::uint64_t> g_inherited_ends;

}  // namespace torchtrace::core
