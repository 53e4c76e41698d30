#pragma once

#include "core/caution.h"
#include "core/clock.h"
#include "core/full_ring.h"
#include "core/process.h"
#include "filters/name_filter.h"
#include "observer/layout_check.h"
#include "observer/thread_data.h"
#include "observer/torch_library.h"

/// The op path's shared pieces: what op_callbacks.cpp (hot), careful_path.cpp, user_scopes.cpp and
/// shadow_stack.cpp (not hot) need of each other. Op threads only.
namespace torchtrace::observer {

/// Set once, before the callback is registered. Without initialisers: in a program that is linked
/// with libtorch that is done by the library's constructor, and they would run after it.
struct Registration {
  TorchLibrary torch;
  RecordFunctionCallback callback;
  const filters::NameFilter* names;
};
extern Registration g_registration;

/// The calling thread's buffer, made at its first operator. nullptr: count, do not record.
core::ThreadBuffer* attach_thread(const RecordFunction& event) noexcept;

/// Same, for a thread whose first event is the end of a scope that another one started.
core::ThreadBuffer* attach_ending_thread() noexcept;

struct NamedEvent {
  std::uint32_t name_id;  ///< May have `NameCache::kFilteredOut`.
  bool is_recorded;       ///< False once the verdict is kOff or kQuiesced.
};

/// Name of any event: checks its layout where that is not verified.
template <StringAbi abi>
NamedEvent name_event(core::ThreadBuffer& buffer, const RecordFunction& event) noexcept;

/// Start and end of any event. The careful way of the two callbacks.
template <StringAbi abi>
std::unique_ptr<ObserverContext> start_carefully(const RecordFunction& event) noexcept;
template <StringAbi abi>
void end_carefully(const RecordFunction& event, ObserverContext* context) noexcept;

/// What is known of an operator as it starts.
struct StartedOp {
  std::uint64_t op_id;
  std::uint64_t address;
  std::uint64_t info;         ///< `core::OpInfo`
  std::uint64_t parent;       ///< op_id of the operator around it, 0 = none.
  std::uint32_t scope_entry;  ///< Of a user scope's frame: 1 + index of its entry.
};

inline std::uint64_t op_id_of(const core::OpenOp& op) noexcept {
  return op.op_id.load(std::memory_order_relaxed);
}

/// Counts a start and returns the operator's id.
inline std::uint64_t next_op_id(core::ThreadHeader& header) noexcept {
  const std::uint64_t op_id = header.last_op_id.load(std::memory_order_relaxed) + 1;
  header.last_op_id.store(op_id, std::memory_order_relaxed);
  return op_id;
}

/// True if an operator at `address` may go on top of the stack as it is: there is a frame for it,
/// and what is on top has not ended.
inline bool can_nest(const core::ThreadBuffer& buffer, std::uint32_t depth,
                     std::uint64_t address) noexcept {
  return buffer.frames[depth].address.load(std::memory_order_relaxed) != address &&
         buffer.header.must_tidy.load(std::memory_order_relaxed) == 0 && depth < core::kMaxFrames;
}

/// Counts an operator that a filter leaves out, and puts a frame for it on the stack (layout.h).
inline void push_filtered(core::ThreadBuffer& buffer, std::uint32_t depth,
                          std::uint64_t address) noexcept {
  core::ThreadHeader& header = buffer.header;
  next_op_id(header);
  core::bump(header.filtered);
  core::OpenOp& frame = buffer.frames[depth + 1];
  frame.op_id.store(op_id_of(buffer.frames[depth]), std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  frame.address.store(address, std::memory_order_relaxed);
  frame.info.store(core::kFlagFiltered, std::memory_order_relaxed);
  frame.scope_entry.store(0, std::memory_order_relaxed);
  header.depth.store(depth + 1, std::memory_order_release);
}

/// True for the usual operator: of scope FUNCTION, and kept.
inline bool is_kept_function(std::uint64_t info) noexcept {
  static_assert(static_cast<int>(core::Scope::kFunction) == 0);
  return static_cast<std::uint16_t>(info) == 0;
}

inline bool is_filtered(std::uint64_t info) noexcept {
  return (core::OpInfo::flags(info) & core::kFlagFiltered) != 0;
}
inline bool is_filtered(const core::OpenOp& frame) noexcept {
  return is_filtered(frame.info.load(std::memory_order_relaxed));
}

/// Writes the frame or scope entry of an operator that starts, by `core::read_open_op`'s protocol,
/// but for its time: `begin_open_op` follows. Apart, so that the clock is read last and our own
/// work is not in the operator's time.
inline void write_open_op(core::OpenOp& op, const StartedOp& started) noexcept {
  op.op_id.store(started.op_id, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  op.address.store(started.address, std::memory_order_relaxed);
  op.info.store(started.info, std::memory_order_relaxed);
  op.parent.store(started.parent, std::memory_order_relaxed);
  op.scope_entry.store(started.scope_entry, std::memory_order_relaxed);
  op.commands.store(0, std::memory_order_relaxed);
}

/// Makes what `write_open_op` wrote whole.
inline void begin_open_op(core::OpenOp& op, std::uint64_t op_id, std::uint64_t t0_ticks) noexcept {
  op.t0_ticks.store(t0_ticks, std::memory_order_relaxed);
  op.version.store(static_cast<std::uint32_t>(op_id), std::memory_order_release);
}

/// What the ring gets of a frame that ends on its own thread, with the `info` read from it, but
/// for the link that follows.
inline void copy_frame(core::Record& record, const core::ThreadHeader& header,
                       const core::OpenOp& frame, std::uint64_t info,
                       std::uint64_t t1_ticks) noexcept {
  using core::put;
  put(record.t0_ticks, frame.t0_ticks.load(std::memory_order_relaxed));
  put(record.t1_ticks, t1_ticks);
  put(record.op_id, op_id_of(frame));
  put(record.parent, frame.parent.load(std::memory_order_relaxed));
  core::OpInfo::store(info, record);
  put(record.commands, frame.commands.load(std::memory_order_relaxed));
  put(record.end_slot, header.slot);
}

/// The autograd link of an operator that has none, or whose event's layout is not known.
inline void copy_no_link(core::Record& record) noexcept {
  core::put(record.sequence_nr, -1);
  core::put(record.forward_thread, 0);
}

/// The autograd link, which PyTorch knows only at the end of an event.
template <StringAbi abi>
void copy_link(core::Record& record, const RecordFunction& event, bool is_function) noexcept {
  core::put(record.sequence_nr, read_at<std::int64_t>(&event, Offsets<abi>::kSequenceNumber));
  core::put(record.forward_thread, 0);
  if (is_function || read_at<std::uint8_t>(&event, kScopeOffset) !=
                         static_cast<std::uint8_t>(core::Scope::kBackwardFunction)) {
    return;
  }
  const std::uint32_t offset = g_forward_thread_offset.load(std::memory_order_relaxed);
  if (offset != 0) core::put(record.forward_thread, read_at<std::uint64_t>(&event, offset));
}

/// Remembers where records were lost. Cold.
void note_loss(core::ThreadHeader& header, core::Counter& reason, std::uint64_t op_id) noexcept;

/// Same, for an operator that ended and found no room in the ring. Cold.
void note_no_room(core::ThreadHeader& header, std::uint64_t op_id) noexcept;

/// The next slot of the ring; nullptr: there is none, by the ring's policy.
inline core::Record* next_slot(core::ThreadBuffer& buffer) noexcept {
  core::ThreadHeader& header = buffer.header;
  const bool has_room = header.ring.has_room();
  if (__builtin_expect(!has_room, 0) && !core::make_room(header)) return nullptr;
  return buffer.slots() + header.ring.slot();
}

/// A user scope has ended on its own thread: if it ends a training step, and that took longer than
/// `core::g_slow_step_ticks`, has the flight recorder dump. Cold.
void note_step_end(core::ThreadBuffer& buffer, std::uint32_t name_id,
                   std::uint64_t t1_ticks) noexcept;

/// Pops what ended elsewhere from the top of the stack, and a stale frame at the same address.
/// Returns the depth.
std::uint32_t tidy_stack(core::ThreadBuffer& buffer, std::uint64_t address) noexcept;

/// Takes frames above `depth` off the stack because an operator below them ended: open user
/// scopes become detached, functions are abandoned.
void unwind_to(core::ThreadBuffer& buffer, std::uint32_t depth, std::uint64_t now_ticks) noexcept;

/// User scopes opened inside `ended`, whose frame is at `depth` unless it was taken off before, and
/// still open when it ends: they become detached.
void detach_above(core::ThreadBuffer& buffer, std::uint32_t depth,
                  const core::OpenOp& ended) noexcept;

/// True if the operator at `address` is on this thread's stack; it is then on top.
bool uncover(core::ThreadBuffer& buffer, std::uint64_t address, std::uint64_t now_ticks) noexcept;

/// An end on a thread without a stack, or not found on it: counted if the parent process started
/// it.
void end_without_start(std::uint64_t address) noexcept;

/// Start and end of operators of scope USER_SCOPE, which may end on other threads and out of order.
std::unique_ptr<ObserverContext> start_user_scope(core::ThreadBuffer& buffer, std::uint64_t address,
                                                  std::uint32_t name_id) noexcept;
void end_user_scope(ScopeContext& context, std::uint64_t t1_ticks) noexcept;

}  // namespace torchtrace::observer
