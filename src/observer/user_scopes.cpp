#include <sys/mman.h>

#include <new>

#include "observer/op_path.h"

/// Operators of scope USER_SCOPE. They may end on other threads (c10d, futures) and out of order
/// (Python generators), so each has an entry in its thread's table besides its frame: the entry
/// says whether it is open, the frame only where it stands around others.
namespace torchtrace::observer {

namespace {

using core::OpenOp;
using core::put;
using core::ThreadBuffer;
using core::ThreadHeader;

/// Frees what other threads have ended and released since the last time.
void sweep(ThreadData& data, OpenOp* entries) noexcept {
  for (std::uint32_t index = 0; index < data.used; ++index) {
    if (entries[index].state.load(std::memory_order_acquire) != core::kScopeEnded ||
        !data.released[index].load(std::memory_order_acquire)) {
      continue;
    }
    entries[index].state.store(core::kScopeFree, std::memory_order_relaxed);
    data.free_list[data.free_count++] = index;
  }
}

/// An index of the table, or kMaxScopes if all are open.
std::uint32_t take_entry(ThreadBuffer& buffer) noexcept {
  ThreadData& data = ThreadData::of(buffer.header);
  if (data.free_count == 0 && data.used == core::kMaxScopes) sweep(data, buffer.scopes);
  if (data.free_count != 0) return data.free_list[--data.free_count];
  return data.used == core::kMaxScopes ? core::kMaxScopes : data.used++;
}

void push_record(ThreadBuffer& buffer, const ScopeContext& context,
                 std::uint64_t t1_ticks) noexcept {
  ThreadHeader& header = buffer.header;
  core::Record* record = next_slot(buffer);
  if (record == nullptr) return note_no_room(header, context.op_id);
  const OpenOp& entry = context.owner->scopes[context.entry];
  std::uint64_t info = entry.info.load(std::memory_order_relaxed);
  if (header.slot != core::OpId::slot(context.op_id)) info |= core::kFlagAsync;
  put(record->t0_ticks, context.t0_ticks);
  put(record->t1_ticks, t1_ticks);
  put(record->op_id, context.op_id);
  put(record->parent, context.parent);
  core::OpInfo::store(info, *record);
  put(record->commands, entry.commands.load(std::memory_order_relaxed));
  put(record->end_slot, header.slot);
  copy_no_link(*record);
  header.ring.publish();
}

/// True if the thread that runs this is the one that started the scope.
bool runs_on_owner(const ThreadBuffer* buffer, const ScopeContext& context) noexcept {
  return buffer == context.owner && buffer->header.slot == core::OpId::slot(context.op_id);
}

}  // namespace

ThreadData* ThreadData::create() noexcept {
  void* memory =
      mmap(nullptr, sizeof(ThreadData), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : new (memory) ThreadData;
}

ScopeContext::~ScopeContext() {
  if (owner == nullptr) return;
  ThreadData& data = ThreadData::of(owner->header);
  if (!runs_on_owner(core::t_buffer, *this) ||
      process != core::g_process.load(std::memory_order_relaxed)) {
    data.released[entry].store(true, std::memory_order_release);
    return;
  }
  // The usual case: ended and destroyed by the thread that started it.
  owner->scopes[entry].state.store(core::kScopeFree, std::memory_order_relaxed);
  data.free_list[data.free_count++] = entry;
}

std::unique_ptr<ObserverContext> start_user_scope(ThreadBuffer& buffer, std::uint64_t address,
                                                  std::uint32_t name_id) noexcept {
  ThreadHeader& header = buffer.header;
  const std::uint64_t op_id = next_op_id(header);
  const std::uint32_t depth = header.depth.load(std::memory_order_relaxed);
  if (depth >= core::kMaxFrames) {
    note_loss(header, header.dropped_too_deep, op_id);
    return nullptr;
  }
  const std::uint32_t entry = take_entry(buffer);
  if (entry == core::kMaxScopes) {
    note_loss(header, header.dropped_no_scope, op_id);
    return nullptr;
  }
  ThreadData& data = ThreadData::of(header);
  constexpr auto kScope = static_cast<std::uint8_t>(core::Scope::kUserScope);
  const std::uint64_t info = core::OpInfo::pack(name_id, depth, kScope);
  data.released[entry].store(false, std::memory_order_relaxed);
  // A used context's destructor has run: begin a new object in its place.
  auto* context = new (&data.contexts[entry]) ScopeContext;
  context->process = core::g_process.load(std::memory_order_relaxed);
  context->owner = &buffer;
  context->op_id = op_id;
  context->name_id = name_id;
  context->entry = entry;
  context->depth = static_cast<std::uint16_t>(depth);
  context->parent = op_id_of(buffer.frames[depth]);
  OpenOp& frame = buffer.frames[depth + 1];
  OpenOp& scope = buffer.scopes[entry];
  write_open_op(frame, {op_id, address, info, context->parent, entry + 1});
  write_open_op(scope, {op_id, address, info, context->parent, 0});
  context->t0_ticks = core::read_ticks();
  begin_open_op(frame, op_id, context->t0_ticks);
  begin_open_op(scope, op_id, context->t0_ticks);
  scope.state.store(core::kScopeOpen, std::memory_order_release);
  if (header.scopes_used.load(std::memory_order_relaxed) <= entry) {
    header.scopes_used.store(entry + 1, std::memory_order_release);
  }
  header.depth.store(depth + 1, std::memory_order_release);
  return std::unique_ptr<ObserverContext>(context);
}

void end_user_scope(ScopeContext& context, std::uint64_t t1_ticks) noexcept {
  core::Process* process = core::g_process.load(std::memory_order_acquire);
  if (context.process != process) {  // started by the parent of this process
    core::g_inherited_ends.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  ThreadBuffer* buffer = core::t_buffer;
  if (buffer == nullptr) buffer = attach_ending_thread();
  if (buffer != nullptr) {
    push_record(*buffer, context, t1_ticks);
  } else {
    process->mapping.header().dropped_no_buffer.fetch_add(1, std::memory_order_relaxed);
  }
  // After the record, so that the flush thread never misses both. The owner's buffer is not
  // recycled while an entry of it is open.
  OpenOp& entry = context.owner->scopes[context.entry];
  entry.state.store(core::kScopeEnded, std::memory_order_release);
  // Its frame may be on top of the owner's stack, or get there. If the buffer is another thread's
  // by now, that one looks once for nothing.
  context.owner->header.must_tidy.store(1, std::memory_order_release);
  if (!runs_on_owner(buffer, context)) return;
  detach_above(*buffer, context.depth, entry);
  tidy_stack(*buffer, 0);
  if (__builtin_expect(core::g_slow_step_ticks.load(std::memory_order_relaxed) != 0, 0)) {
    note_step_end(*buffer, context.name_id, t1_ticks);
  }
}

}  // namespace torchtrace::observer
