#pragma once

#include <cstdint>

#include "core/layout.h"
#include "core/ring.h"

namespace torchtrace::core {

/// What one op thread needs of itself, in private memory: the producer's side of its ring, its
/// stack depth, and its cache of names. The observer keeps its own part behind `observer_data`.
/// Thread: its own only. Owner: the registry; recycled with the thread's buffer.
struct alignas(64) ThreadState {
  RingProducer<std::uint64_t> ring;
  std::uint64_t started = 0;  ///< Operators seen: the count half of op_id.
  std::uint32_t depth = 0;    ///< Frames in use.
  std::uint32_t slot = 0;
  ThreadHeader* header = nullptr;
  OpenOp* frames = nullptr;
  OpenOp* scopes = nullptr;
  Record* slots = nullptr;
  void* observer_data = nullptr;
  std::uint32_t buffer_index = 0;
};

/// The calling thread's state; nullptr before its first operator, after its end, and in a forked
/// child. One pointer, because a preloaded library's initial-exec storage is shared with everything
/// that the program opens later, and its surplus is small. `__thread`, not `thread_local`: that
/// might have a constructor elsewhere, so each access would first look for one.
extern __thread ThreadState* t_state __attribute__((tls_model("initial-exec")));

}  // namespace torchtrace::core
