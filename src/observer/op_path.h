#pragma once

#include "core/clock.h"
#include "core/process.h"
#include "observer/layout_check.h"
#include "observer/thread_data.h"
#include "observer/torch_library.h"

/// The op path's shared pieces: what op_callbacks.cpp (hot) and user_scopes.cpp, shadow_stack.cpp
/// (cold) both need. Op threads only.
namespace torchtrace::observer {

/// Set once, before the callback is registered.
struct Registration {
  TorchLibrary torch;
  RecordFunctionCallback callback;
};
extern Registration g_registration;

/// The calling thread's state, made at its first operator. nullptr: count, do not record.
core::ThreadState* attach_thread(const RecordFunction& event) noexcept;

/// Same, for a thread whose first event is the end of a scope that another one started.
core::ThreadState* attach_ending_thread() noexcept;

struct NamedEvent {
  std::uint32_t name_id;
  bool is_recorded;  ///< False once the verdict is kOff.
};

/// Name of an event whose layout is not (yet) verified.
template <StringAbi abi>
NamedEvent name_slowly(core::ThreadState& state, const RecordFunction& event) noexcept;

/// Name of an event whose layout is verified: no call unless the thread meets the name for the
/// first time.
template <StringAbi abi>
std::uint32_t find_name(core::ThreadState& state, const RecordFunction& event) noexcept {
  const char* function = reinterpret_cast<const char*>(&event) + kFunctionOffset;
  // The schema's address, or that of the string's characters.
  const auto* key = read_at<const char*>(function, 0);
  const bool is_schema =
      read_at<std::uint8_t>(&event, Offsets<abi>::kFunctionIndex) == kFunctionIsSchema;
  const NameCache::Name name =
      is_schema ? NameCache::Name{view_string<abi>(key),
                                  view_string<abi>(key + Offsets<abi>::kOverloadInSchema)}
                : NameCache::Name{view_string<abi>(function), {}};
  core::NameTable& table = core::g_process.load(std::memory_order_relaxed)->names;
  return ThreadData::of(state).names.find(table, key, name);
}

/// What is known of an operator as it starts.
struct StartedOp {
  std::uint64_t count;
  std::uint64_t address;
  std::uint64_t name_and_scope;
  std::uint64_t parent;       ///< `count` of the operator around it, 0 = none.
  std::uint32_t scope_entry;  ///< Of a user scope's frame: 1 + index of its entry.
};

/// `count` of the operator on top of a stack of this depth.
inline std::uint64_t top_count(const core::ThreadState& state, std::uint32_t depth) noexcept {
  return depth == 0 ? 0 : state.frames[depth - 1].count.load(std::memory_order_relaxed);
}

/// Writes the frame or scope entry of an operator that starts, by `core::read_open_op`'s protocol,
/// but for its time: `begin_open_op` follows. Apart, so that the clock is read last and our own
/// work is not in the operator's time.
inline void write_open_op(core::OpenOp& op, const StartedOp& started) noexcept {
  op.count.store(started.count, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  op.address.store(started.address, std::memory_order_relaxed);
  op.name_and_scope.store(started.name_and_scope, std::memory_order_relaxed);
  op.parent.store(started.parent, std::memory_order_relaxed);
  op.scope_entry.store(started.scope_entry, std::memory_order_relaxed);
  op.commands.store(0, std::memory_order_relaxed);
}

/// Makes what `write_open_op` wrote whole.
inline void begin_open_op(core::OpenOp& op, std::uint64_t count, std::uint64_t t0_ticks) noexcept {
  op.t0_ticks.store(t0_ticks, std::memory_order_relaxed);
  op.version.store(static_cast<std::uint32_t>(count), std::memory_order_release);
}

/// What the ring gets of a frame that ends on its own thread; the rest is the caller's.
inline void copy_frame(core::Record& record, const core::ThreadState& state,
                       const core::OpenOp& frame, std::uint64_t t1_ticks) noexcept {
  const std::uint64_t packed = frame.name_and_scope.load(std::memory_order_relaxed);
  const std::uint64_t parent = frame.parent.load(std::memory_order_relaxed);
  record.t0_ticks = frame.t0_ticks.load(std::memory_order_relaxed);
  record.t1_ticks = t1_ticks;
  record.op_id = core::OpId::make(state.slot, frame.count.load(std::memory_order_relaxed));
  record.sequence_nr = -1;
  record.forward_thread = 0;
  record.name_id = static_cast<std::uint32_t>(packed >> 32U);
  record.end_slot = state.slot;
  record.commands = frame.commands.load(std::memory_order_relaxed);
  record.depth = static_cast<std::uint16_t>(packed >> 16U);
  record.scope = static_cast<std::uint8_t>(packed >> 8U);
  record.flags = static_cast<std::uint8_t>(packed);
  record.parent = parent == 0 ? 0 : core::OpId::make(state.slot, parent);
}

/// Sets the number of frames in use.
inline void set_depth(core::ThreadState& state, std::uint32_t depth) noexcept {
  state.depth = depth;
  state.header->depth.store(depth, std::memory_order_release);
}

/// Counts a start and returns the operator's count.
inline std::uint64_t count_start(core::ThreadState& state) noexcept {
  const std::uint64_t count = ++state.started;
  state.header->started.store(count, std::memory_order_relaxed);
  return count;
}

/// Remembers where records were lost. Cold.
void note_loss(core::ThreadState& state, core::Counter& reason, std::uint64_t count) noexcept;

/// The next free slot of the ring, or nullptr: full.
inline core::Record* next_slot(core::ThreadState& state) noexcept {
  if (__builtin_expect(!state.ring.has_room(state.header->head), 0)) return nullptr;
  return state.slots + state.ring.slot();
}

/// Pops what ended elsewhere from the top of the stack, and a stale frame at the same address.
/// Returns the depth.
std::uint32_t tidy_stack(core::ThreadState& state, std::uint64_t address) noexcept;

/// Takes frames [depth, state.depth) off the stack because an operator below them ended: open user
/// scopes become detached, functions are abandoned.
void unwind_to(core::ThreadState& state, std::uint32_t depth, std::uint64_t now_ticks) noexcept;

/// User scopes opened inside `ended`, whose frame is at `depth` unless it was taken off before, and
/// still open when it ends: they become detached.
void detach_above(core::ThreadState& state, std::uint32_t depth,
                  const core::OpenOp& ended) noexcept;

/// An end whose operator is not on top of this thread's stack. Returns true if it was found below
/// and is now on top.
bool uncover(core::ThreadState& state, std::uint64_t address, std::uint64_t now_ticks) noexcept;

/// An end on a thread without a stack, or not found on it: counted if the parent process started
/// it.
void end_without_start(std::uint64_t address) noexcept;

/// Start and end of operators of scope USER_SCOPE, which may end on other threads and out of order.
std::unique_ptr<ObserverContext> start_user_scope(core::ThreadState& state, std::uint64_t address,
                                                  std::uint32_t name_id) noexcept;
void end_user_scope(ScopeContext& context, std::uint64_t t1_ticks) noexcept;

}  // namespace torchtrace::observer
