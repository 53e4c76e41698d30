#include "observer/op_path.h"

/// The op path's careful way: what `op_callbacks.cpp` does in the usual case, with every question
/// asked. A thread's first operators, names met for the first time, stacks out of order, full
/// rings, slow clocks, the end of the process.
namespace torchtrace::observer {

namespace {

using core::OpenOp;
using core::Record;
using core::Scope;
using core::ThreadBuffer;

bool layout_is_known() noexcept {
  return g_layout_verdict.load(std::memory_order_relaxed) <= LayoutVerdict::kQuiesced;
}

/// Takes the frame on top of the stack into the ring.
template <StringAbi abi>
void record_top(ThreadBuffer& buffer, const RecordFunction& event,
                std::uint64_t t1_ticks) noexcept {
  core::ThreadHeader& header = buffer.header;
  const std::uint32_t depth = header.depth.load(std::memory_order_relaxed);
  const OpenOp& frame = buffer.frames[depth];
  const std::uint64_t info = frame.info.load(std::memory_order_relaxed);
  if (is_filtered(info)) return header.depth.store(depth - 1, std::memory_order_release);
  Record* record = next_slot(buffer);
  if (record != nullptr) {
    copy_frame(*record, header, frame, info, t1_ticks);
    if (layout_is_known()) {
      copy_link<abi>(*record, event, is_kept_function(info));
    } else {
      copy_no_link(*record);
    }
    header.ring.publish();
  } else {
    note_no_room(header, op_id_of(frame));
  }
  header.depth.store(depth - 1, std::memory_order_release);
}

}  // namespace

template <StringAbi abi>
std::unique_ptr<ObserverContext> start_carefully(const RecordFunction& event) noexcept {
  ThreadBuffer* buffer = core::t_buffer;
  if (buffer == nullptr) buffer = attach_thread(event);
  if (buffer == nullptr) return nullptr;
  const NamedEvent named = name_event<abi>(*buffer, event);
  if (!named.is_recorded) return nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(&event);
  const std::uint32_t depth = tidy_stack(*buffer, address);
  if ((named.name_id & NameCache::kFilteredOut) != 0 && depth < core::kMaxFrames) {
    push_filtered(*buffer, depth, address);
    return nullptr;
  }
  const auto scope = read_at<std::uint8_t>(&event, kScopeOffset);
  if (scope == static_cast<std::uint8_t>(Scope::kUserScope)) {
    return start_user_scope(*buffer, address, named.name_id);
  }
  core::ThreadHeader& header = buffer->header;
  const std::uint64_t op_id = next_op_id(header);
  if (depth >= core::kMaxFrames) {
    note_loss(header, header.dropped_too_deep, op_id);
    return nullptr;
  }
  OpenOp& frame = buffer->frames[depth + 1];
  write_open_op(frame, {op_id, address, core::OpInfo::pack(named.name_id, depth, scope),
                        op_id_of(buffer->frames[depth]), 0});
  begin_open_op(frame, op_id, core::read_ticks());
  header.depth.store(depth + 1, std::memory_order_release);
  return nullptr;
}

template <StringAbi abi>
void end_carefully(const RecordFunction& event, ObserverContext* context) noexcept {
  const std::uint64_t t1_ticks = core::read_ticks();
  if (context != nullptr) return end_user_scope(static_cast<ScopeContext&>(*context), t1_ticks);
  ThreadBuffer* buffer = core::t_buffer;
  const auto address = reinterpret_cast<std::uintptr_t>(&event);
  if (buffer == nullptr || !uncover(*buffer, address, t1_ticks)) return end_without_start(address);
  record_top<abi>(*buffer, event, t1_ticks);
}

template std::unique_ptr<ObserverContext> start_carefully<StringAbi::kCxx11>(
    const RecordFunction&) noexcept;
template std::unique_ptr<ObserverContext> start_carefully<StringAbi::kOld>(
    const RecordFunction&) noexcept;
template void end_carefully<StringAbi::kCxx11>(const RecordFunction&, ObserverContext*) noexcept;
template void end_carefully<StringAbi::kOld>(const RecordFunction&, ObserverContext*) noexcept;

}  // namespace torchtrace::observer
