#include "observer/op_path.h"

/// What happens to the shadow stack when starts and ends do not pair up: user scopes that end out
/// of order or elsewhere, operators that never end, ends that never started here.
namespace torchtrace::observer {

namespace {

using core::OpenOp;
using core::ThreadBuffer;
using core::ThreadHeader;

/// The user scope's entry behind a frame; nullptr for an operator of another scope.
OpenOp* entry_of(ThreadBuffer& buffer, const OpenOp& frame) noexcept {
  const std::uint32_t entry = frame.scope_entry.load(std::memory_order_relaxed);
  return entry == 0 ? nullptr : &buffer.scopes[entry - 1];
}

/// True if the scope behind this frame has ended, or its entry serves another one by now.
bool has_ended(const OpenOp& entry, const OpenOp& frame) noexcept {
  return entry.state.load(std::memory_order_acquire) != core::kScopeOpen ||
         op_id_of(entry) != op_id_of(frame);
}

/// A scope that outlives the operator around it stays open in the table, but no longer stands
/// around what this thread does next.
void detach(OpenOp& entry) noexcept {
  const std::uint64_t info = entry.info.load(std::memory_order_relaxed);
  entry.info.store(info | core::kFlagDetached, std::memory_order_relaxed);
}

/// An operator that will not end: counted, and told to the flush thread if there is room.
void abandon(ThreadBuffer& buffer, const OpenOp& frame, std::uint64_t now_ticks) noexcept {
  const std::uint64_t info = frame.info.load(std::memory_order_relaxed);
  if (is_filtered(info)) return;  // counted at its start
  ThreadHeader& header = buffer.header;
  note_loss(header, header.abandoned, op_id_of(frame));
  // What is overwritten is counted as such, and an operator counts once.
  if (header.ring_policy == core::kRingOverwriteOldest) return;
  core::Record* record = next_slot(buffer);
  if (record == nullptr) return;
  copy_frame(*record, header, frame, info, now_ticks);
  copy_no_link(*record);
  core::put(record->flags, core::kFlagAbandoned);
  header.ring.publish();
  core::bump(header.abandoned_pushed);
}

std::uint32_t depth_of(const ThreadBuffer& buffer) noexcept {
  return buffer.header.depth.load(std::memory_order_relaxed);
}

/// True if a scope below the top has ended: it has to be found once it is on top.
bool holds_ended_scope(ThreadBuffer& buffer, std::uint32_t depth) noexcept {
  for (std::uint32_t at = 1; at <= depth; ++at) {
    const OpenOp& frame = buffer.frames[at];
    const OpenOp* entry = entry_of(buffer, frame);
    if (entry != nullptr && has_ended(*entry, frame)) return true;
  }
  return false;
}

}  // namespace

std::uint32_t tidy_stack(ThreadBuffer& buffer, std::uint64_t address) noexcept {
  ThreadHeader& header = buffer.header;
  // Before the look, and as an exchange: an end elsewhere is either seen below, or sets it again.
  const bool was_asked = header.must_tidy.exchange(0, std::memory_order_acq_rel) != 0;
  std::uint32_t depth = depth_of(buffer);
  for (; depth != 0; --depth) {
    const OpenOp& top = buffer.frames[depth];
    OpenOp* entry = entry_of(buffer, top);
    const bool same_address = top.address.load(std::memory_order_relaxed) == address;
    if (entry != nullptr && has_ended(*entry, top)) continue;
    if (!same_address) break;
    if (entry != nullptr) {
      detach(*entry);
    } else {
      abandon(buffer, top, core::read_ticks());
    }
  }
  header.depth.store(depth, std::memory_order_release);
  if (was_asked && holds_ended_scope(buffer, depth)) {
    header.must_tidy.store(1, std::memory_order_relaxed);
  }
  return depth;
}

void unwind_to(ThreadBuffer& buffer, std::uint32_t depth, std::uint64_t now_ticks) noexcept {
  for (std::uint32_t at = depth_of(buffer); at > depth; --at) {
    const OpenOp& frame = buffer.frames[at];
    OpenOp* entry = entry_of(buffer, frame);
    if (entry == nullptr) {
      abandon(buffer, frame, now_ticks);
    } else if (!has_ended(*entry, frame)) {
      detach(*entry);
    }
  }
  buffer.header.depth.store(depth, std::memory_order_release);
}

void detach_above(ThreadBuffer& buffer, std::uint32_t depth, const OpenOp& ended) noexcept {
  const std::uint32_t top = depth_of(buffer);
  if (depth >= top || entry_of(buffer, buffer.frames[depth + 1]) != &ended) return;
  for (std::uint32_t at = depth + 2; at <= top; ++at) {
    const OpenOp& frame = buffer.frames[at];
    OpenOp* entry = entry_of(buffer, frame);
    if (entry != nullptr && !has_ended(*entry, frame)) detach(*entry);
  }
}

bool uncover(ThreadBuffer& buffer, std::uint64_t address, std::uint64_t now_ticks) noexcept {
  for (std::uint32_t at = depth_of(buffer); at != 0; --at) {
    if (buffer.frames[at].address.load(std::memory_order_relaxed) != address) continue;
    unwind_to(buffer, at, now_ticks);
    return true;
  }
  return false;
}

void note_loss(ThreadHeader& header, core::Counter& reason, std::uint64_t op_id) noexcept {
  const std::uint64_t count = core::OpId::count(op_id);
  if (header.first_loss.load(std::memory_order_relaxed) == 0) {
    header.first_loss.store(count, std::memory_order_relaxed);
  }
  header.last_loss.store(count, std::memory_order_relaxed);
  core::bump(reason);
}

void note_no_room(ThreadHeader& header, std::uint64_t op_id) noexcept {
  note_loss(header, core::no_room_counter(header), op_id);
}

}  // namespace torchtrace::observer
