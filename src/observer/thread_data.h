#pragma once

#include <atomic>
#include <cstdint>

#include "core/process.h"
#include "observer/name_cache.h"
#include "observer/torch_abi.h"

namespace torchtrace::observer {

struct ThreadData;

/// What a user scope's start leaves with PyTorch and its end gets back, on whichever thread. Holds
/// all that the record needs, since the thread that started it may be gone by then. Owner: one of
/// the fixed pool in the starting thread's `ThreadData`; its destructor returns it.
struct ScopeContext final : ObserverContext {
  ~ScopeContext() override;
  /// PyTorch deletes what it was lent; the pool is never freed, and nothing is made by `new`.
  static void operator delete(void* /*context*/) noexcept {}  // NOLINT(misc-new-delete-overloads)

  core::Process* process = nullptr;  ///< Another one than the present: inherited through fork.
  core::ThreadBuffer* owner = nullptr;
  std::uint64_t op_id = 0;
  std::uint64_t t0_ticks = 0;
  std::uint64_t parent = 0;  ///< op_id
  std::uint32_t name_id = 0;
  std::uint32_t entry = 0;  ///< Index into the owner's table of scopes.
  std::uint16_t depth = 0;
};

/// The observer's part of a `core::ThreadBuffer`, kept when the buffer is recycled: a context may
/// still be out when its thread has ended.
struct ThreadData {
  NameCache names;
  ScopeContext contexts[core::kMaxScopes];
  std::atomic<bool> released[core::kMaxScopes] = {};  ///< PyTorch has destroyed the context.
  std::uint32_t free_list[core::kMaxScopes];          ///< Indexes known to be free: a stack.
  std::uint32_t free_count = 0;
  struct StepEnd {
    std::uint64_t ticks = 0;
    std::uint32_t slot = 0;     ///< The buffer may have gone to another thread since.
    std::uint32_t name_id = 0;  ///< 0 where the name has a number in it.
  };
  /// Steps that are timed, each kind by itself: of the profiler and of some optimizers.
  static constexpr std::size_t kTimedSteps = 8;
  StepEnd step_ends[kTimedSteps];
  std::uint32_t used = 0;  ///< Contexts [0, used) have been given out at least once.

  static ThreadData& of(const core::ThreadHeader& header) noexcept {
    return *static_cast<ThreadData*>(header.observer_data);
  }

  /// Maps the data of a new state; nullptr if there is no memory.
  static ThreadData* create() noexcept;
};

}  // namespace torchtrace::observer
