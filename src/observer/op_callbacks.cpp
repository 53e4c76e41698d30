#include "observer/op_callbacks.h"

#include "core/clock.h"
#include "observer/op_path.h"

/// The hot path. What is rare is in a function of another file, called behind a branch that is not
/// taken.
namespace torchtrace::observer {

namespace {

using core::OpenOp;
using core::Record;
using core::Scope;
using core::ThreadState;

template <StringAbi abi>
std::unique_ptr<ObserverContext> on_start(const RecordFunction& event) noexcept {
  ThreadState* state = core::t_state;
  if (__builtin_expect(state == nullptr, 0)) {
    state = attach_thread(event);
    if (state == nullptr) return nullptr;
  }
  std::uint32_t name_id = 0;
  if (__builtin_expect(g_layout_verdict.load(std::memory_order_relaxed) == LayoutVerdict::kVerified,
                       1)) {
    name_id = find_name<abi>(*state, event);
  } else {
    const NamedEvent named = name_slowly<abi>(*state, event);
    if (!named.is_recorded) return nullptr;
    name_id = named.name_id;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(&event);
  const auto scope = read_at<std::uint8_t>(&event, kScopeOffset);
  std::uint32_t depth = state->depth;
  if (depth != 0) {
    const OpenOp& top = state->frames[depth - 1];
    if (__builtin_expect(top.scope_entry.load(std::memory_order_relaxed) != 0 ||
                             top.address.load(std::memory_order_relaxed) == address,
                         0)) {
      depth = tidy_stack(*state, address);
    }
  }
  if (__builtin_expect(scope == static_cast<std::uint8_t>(Scope::kUserScope), 0)) {
    return start_user_scope(*state, address, name_id);
  }
  const std::uint64_t count = count_start(*state);
  if (__builtin_expect(depth >= core::kMaxFrames, 0)) {
    note_loss(*state, state->header->dropped_too_deep, count);
    return nullptr;
  }
  OpenOp& frame = state->frames[depth];
  write_open_op(frame,
                {count, address, core::pack_name_and_scope(name_id, depth, scope, core::kFlagNone),
                 top_count(*state, depth), 0});
  begin_open_op(frame, count, core::read_ticks());
  set_depth(*state, depth + 1);
  return nullptr;
}

/// Fills a record from the frame and what PyTorch knows only now.
template <StringAbi abi>
void write_record(Record& record, const ThreadState& state, const OpenOp& frame,
                  const RecordFunction& event, std::uint64_t t1_ticks) noexcept {
  copy_frame(record, state, frame, t1_ticks);
  if (__builtin_expect(g_layout_verdict.load(std::memory_order_relaxed) <= LayoutVerdict::kQuiesced,
                       1)) {
    record.sequence_nr = read_at<std::int64_t>(&event, Offsets<abi>::kSequenceNumber);
    const std::uint32_t offset = g_forward_thread_offset.load(std::memory_order_relaxed);
    if (record.scope == static_cast<std::uint8_t>(Scope::kBackwardFunction) && offset != 0) {
      record.forward_thread = read_at<std::uint64_t>(&event, offset);
    }
  }
}

template <StringAbi abi>
void on_end(const RecordFunction& event, ObserverContext* context) noexcept {
  const std::uint64_t t1_ticks = core::read_ticks();
  if (__builtin_expect(context != nullptr, 0)) {
    return end_user_scope(static_cast<ScopeContext&>(*context), t1_ticks);
  }
  ThreadState* state = core::t_state;
  const auto address = reinterpret_cast<std::uintptr_t>(&event);
  if (__builtin_expect(state == nullptr, 0)) return end_without_start(address);
  if (__builtin_expect(state->depth == 0 || state->frames[state->depth - 1].address.load(
                                                std::memory_order_relaxed) != address,
                       0)) {
    if (!uncover(*state, address, t1_ticks)) return end_without_start(address);
  }
  const std::uint32_t depth = state->depth - 1;
  const OpenOp& frame = state->frames[depth];
  Record* record = next_slot(*state);
  if (__builtin_expect(record != nullptr, 1)) {
    write_record<abi>(*record, *state, frame, event, t1_ticks);
    // Before the frame is popped, so that no operator falls between stack and ring.
    state->ring.publish(state->header->tail);
  } else {
    note_loss(*state, state->header->dropped_ring_full,
              frame.count.load(std::memory_order_relaxed));
  }
  set_depth(*state, depth);
}

}  // namespace

OpCallbacks op_callbacks(StringAbi abi) noexcept {
  if (abi == StringAbi::kOld) return {on_start<StringAbi::kOld>, on_end<StringAbi::kOld>};
  return {on_start<StringAbi::kCxx11>, on_end<StringAbi::kCxx11>};
}

}  // namespace torchtrace::observer
