#include "observer/op_callbacks.h"

#include "observer/op_path.h"

/// The hot path, for the usual event of a program that is under way: the layout is verified, ticks
/// are the CPU's counter, the thread has its buffer and knows the name, the stack is in order, the
/// ring has room. Whatever else there is goes the careful way (careful_path.cpp), by a call that is
/// the last thing done: next to nothing is saved for it.
namespace torchtrace::observer {

namespace {

using core::OpenOp;
using core::Record;
using core::Scope;
using core::ThreadBuffer;
using core::ThreadHeader;

/// The name's id if this thread's cache knows it.
template <StringAbi abi>
std::uint32_t cached_name(const ThreadHeader& header, const RecordFunction& event) noexcept {
  const NameCache& cache = ThreadData::of(header).names;
  const char* function = reinterpret_cast<const char*>(&event) + kFunctionOffset;
  if (read_at<std::uint8_t>(&event, Offsets<abi>::kFunctionIndex) == kFunctionIsSchema) {
    // Old strings lie elsewhere as a whole: the general way compares them.
    if constexpr (abi == StringAbi::kOld) return NameCache::kUnknown;
    return cache.find_schema(read_at<const char*>(function, 0));
  }
  const std::string_view text = view_string<abi>(function);
  return cache.find_string(text.data(), text);
}

template <StringAbi abi>
std::unique_ptr<ObserverContext> on_start(const RecordFunction& event) noexcept {
  ThreadBuffer* buffer = core::t_buffer;
  if (__builtin_expect(buffer == nullptr || core::must_be_careful(), 0)) {
    return start_carefully<abi>(event);
  }
  ThreadHeader& header = buffer->header;
  const std::uint32_t name_id = cached_name<abi>(header, event);
  const std::uint32_t depth = header.depth.load(std::memory_order_relaxed);
  const auto address = reinterpret_cast<std::uintptr_t>(&event);
  if (__builtin_expect(!can_nest(*buffer, depth, address), 0)) return start_carefully<abi>(event);
  if (__builtin_expect(!NameCache::is_kept(name_id), 0)) {
    if (name_id == NameCache::kUnknown) return start_carefully<abi>(event);
    push_filtered(*buffer, depth, address);
    return nullptr;
  }
  const auto scope = read_at<std::uint8_t>(&event, kScopeOffset);
  if (__builtin_expect(scope == static_cast<std::uint8_t>(Scope::kUserScope), 0)) {
    return start_user_scope(*buffer, address, name_id);
  }
  OpenOp& frame = buffer->frames[depth + 1];
  const std::uint64_t op_id = next_op_id(header);
  write_open_op(frame, {op_id, address, core::OpInfo::pack(name_id, depth, scope),
                        op_id_of(buffer->frames[depth]), 0});
  begin_open_op(frame, op_id, core::read_counter());
  header.depth.store(depth + 1, std::memory_order_release);
  return nullptr;
}

template <StringAbi abi>
void on_end(const RecordFunction& event, ObserverContext* context) noexcept {
  if (__builtin_expect(core::must_be_careful(), 0)) return end_carefully<abi>(event, context);
  if (__builtin_expect(context != nullptr, 0)) {
    return end_user_scope(static_cast<ScopeContext&>(*context), core::read_counter());
  }
  ThreadBuffer* buffer = core::t_buffer;
  if (__builtin_expect(buffer == nullptr, 0)) return end_carefully<abi>(event, nullptr);
  ThreadHeader& header = buffer->header;
  const std::uint32_t depth = header.depth.load(std::memory_order_relaxed);
  const OpenOp& frame = buffer->frames[depth];
  const auto address = reinterpret_cast<std::uintptr_t>(&event);
  const std::uint64_t tail = header.ring.tail.load(std::memory_order_relaxed);
  // At depth 0 the frame is the one that stands for "no operator", whose address is 0.
  if (__builtin_expect(frame.address.load(std::memory_order_relaxed) != address ||
                           !header.ring.has_room_at(tail),
                       0)) {
    return end_carefully<abi>(event, nullptr);
  }
  const std::uint64_t info = frame.info.load(std::memory_order_relaxed);
  const bool is_function = is_kept_function(info);
  // Before the clock, which is most of the cost. That the clock is read after these few loads and
  // not before costs the operator's time nothing: the processor does not wait for them.
  if (__builtin_expect(!is_function && is_filtered(info), 0)) {
    return header.depth.store(depth - 1, std::memory_order_release);
  }
  const std::uint64_t t1_ticks = core::read_counter();
  Record& record = buffer->slots()[header.ring.slot_at(tail)];
  copy_frame(record, header, frame, info, t1_ticks);
  copy_link<abi>(record, event, is_function);
  // Before the frame is popped, so that no operator falls between stack and ring.
  header.ring.publish_at(tail);
  header.depth.store(depth - 1, std::memory_order_release);
}

}  // namespace

OpCallbacks op_callbacks(StringAbi abi) noexcept {
  if (abi == StringAbi::kOld) return {on_start<StringAbi::kOld>, on_end<StringAbi::kOld>};
  return {on_start<StringAbi::kCxx11>, on_end<StringAbi::kCxx11>};
}

}  // namespace torchtrace::observer
