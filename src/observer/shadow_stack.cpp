#include "observer/op_path.h"

/// What happens to the shadow stack when starts and ends do not pair up: user scopes that end out
/// of order or elsewhere, operators that never end, ends that never started here.
namespace torchtrace::observer {

namespace {

using core::OpenOp;
using core::ThreadState;

/// The user scope's entry behind a frame; nullptr for an operator of another scope.
OpenOp* entry_of(ThreadState& state, const OpenOp& frame) noexcept {
  const std::uint32_t entry = frame.scope_entry.load(std::memory_order_relaxed);
  return entry == 0 ? nullptr : &state.scopes[entry - 1];
}

/// True if the scope behind this frame has ended, or its entry serves another one by now.
bool has_ended(const OpenOp& entry, const OpenOp& frame) noexcept {
  return entry.state.load(std::memory_order_acquire) != core::kScopeOpen ||
         entry.count.load(std::memory_order_relaxed) != frame.count.load(std::memory_order_relaxed);
}

/// A scope that outlives the operator around it stays open in the table, but no longer stands
/// around what this thread does next.
void detach(OpenOp& entry) noexcept {
  const std::uint64_t packed = entry.name_and_scope.load(std::memory_order_relaxed);
  entry.name_and_scope.store(packed | core::kFlagDetached, std::memory_order_relaxed);
}

/// An operator that will not end: counted, and told to the flush thread if there is room.
void abandon(ThreadState& state, const OpenOp& frame, std::uint64_t now_ticks) noexcept {
  const std::uint64_t count = frame.count.load(std::memory_order_relaxed);
  note_loss(state, state.header->abandoned, count);
  core::Record* record = next_slot(state);
  if (record == nullptr) return;
  copy_frame(*record, state, frame, now_ticks);
  record->flags = core::kFlagAbandoned;
  state.ring.publish(state.header->tail);
  core::bump(state.header->abandoned_pushed);
}

}  // namespace

std::uint32_t tidy_stack(ThreadState& state, std::uint64_t address) noexcept {
  std::uint32_t depth = state.depth;
  for (; depth != 0; --depth) {
    const OpenOp& top = state.frames[depth - 1];
    OpenOp* entry = entry_of(state, top);
    const bool same_address = top.address.load(std::memory_order_relaxed) == address;
    if (entry != nullptr && has_ended(*entry, top)) continue;
    if (!same_address) break;
    if (entry != nullptr) {
      detach(*entry);
    } else {
      abandon(state, top, core::read_ticks());
    }
  }
  if (depth != state.depth) set_depth(state, depth);
  return depth;
}

void unwind_to(ThreadState& state, std::uint32_t depth, std::uint64_t now_ticks) noexcept {
  for (std::uint32_t at = state.depth; at > depth; --at) {
    const OpenOp& frame = state.frames[at - 1];
    OpenOp* entry = entry_of(state, frame);
    if (entry == nullptr) {
      abandon(state, frame, now_ticks);
    } else if (!has_ended(*entry, frame)) {
      detach(*entry);
    }
  }
  set_depth(state, depth);
}

void detach_above(ThreadState& state, std::uint32_t depth, const OpenOp& ended) noexcept {
  if (depth >= state.depth || entry_of(state, state.frames[depth]) != &ended) return;
  for (std::uint32_t at = depth + 1; at < state.depth; ++at) {
    const OpenOp& frame = state.frames[at];
    OpenOp* entry = entry_of(state, frame);
    if (entry != nullptr && !has_ended(*entry, frame)) detach(*entry);
  }
}

bool uncover(ThreadState& state, std::uint64_t address, std::uint64_t now_ticks) noexcept {
  for (std::uint32_t at = state.depth; at != 0; --at) {
    if (state.frames[at - 1].address.load(std::memory_order_relaxed) != address) continue;
    unwind_to(state, at, now_ticks);
    return true;
  }
  return false;
}

void note_loss(ThreadState& state, core::Counter& reason, std::uint64_t count) noexcept {
  core::ThreadHeader& header = *state.header;
  if (header.first_loss.load(std::memory_order_relaxed) == 0) {
    header.first_loss.store(count, std::memory_order_relaxed);
  }
  header.last_loss.store(count, std::memory_order_relaxed);
  core::bump(reason);
}

}  // namespace torchtrace::observer
