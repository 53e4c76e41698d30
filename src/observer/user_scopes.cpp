#include <sys/mman.h>

#include <new>

#include "observer/op_path.h"

/// Operators of scope USER_SCOPE. They may end on other threads (c10d, futures) and out of order
/// (Python generators), so each has an entry in its thread's table besides its frame: the entry
/// says whether it is open, the frame only where it stands around others.
namespace torchtrace::observer {

namespace {

using core::OpenOp;
using core::ThreadState;

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
std::uint32_t take_entry(ThreadState& state) noexcept {
  ThreadData& data = ThreadData::of(state);
  if (data.free_count == 0 && data.used == core::kMaxScopes) sweep(data, state.scopes);
  if (data.free_count != 0) return data.free_list[--data.free_count];
  return data.used == core::kMaxScopes ? core::kMaxScopes : data.used++;
}

void push_record(ThreadState& state, const ScopeContext& context, std::uint64_t t1_ticks) noexcept {
  core::Record* record = next_slot(state);
  if (record == nullptr) {
    note_loss(state, state.header->dropped_ring_full, context.count);
    return;
  }
  const OpenOp& entry = context.owner->scopes[context.entry];
  *record = {};
  record->t0_ticks = context.t0_ticks;
  record->t1_ticks = t1_ticks;
  record->op_id = core::OpId::make(context.slot, context.count);
  record->sequence_nr = -1;
  record->name_id = context.name_id;
  record->end_slot = state.slot;
  record->commands = entry.commands.load(std::memory_order_relaxed);
  record->depth = context.depth;
  record->scope = static_cast<std::uint8_t>(core::Scope::kUserScope);
  record->flags = static_cast<std::uint8_t>(entry.name_and_scope.load(std::memory_order_relaxed));
  record->parent = context.parent;
  if (state.slot != context.slot) record->flags |= core::kFlagAsync;
  state.ring.publish(state.header->tail);
}

/// True if the thread that runs this is the one that started the scope.
bool runs_on_owner(const ThreadState* state, const ScopeContext& context) noexcept {
  return state == context.owner && state->slot == context.slot;
}

}  // namespace

ThreadData* ThreadData::create() noexcept {
  void* memory =
      mmap(nullptr, sizeof(ThreadData), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : new (memory) ThreadData;
}

ScopeContext::~ScopeContext() {
  if (owner == nullptr) return;
  ThreadData& data = ThreadData::of(*owner);
  const bool is_owner = core::t_state == owner && owner->slot == slot;
  if (!is_owner || process != core::g_process.load(std::memory_order_relaxed)) {
    data.released[entry].store(true, std::memory_order_release);
    return;
  }
  // The usual case: ended and destroyed by the thread that started it.
  owner->scopes[entry].state.store(core::kScopeFree, std::memory_order_relaxed);
  data.free_list[data.free_count++] = entry;
}

std::unique_ptr<ObserverContext> start_user_scope(ThreadState& state, std::uint64_t address,
                                                  std::uint32_t name_id) noexcept {
  const std::uint64_t count = count_start(state);
  const std::uint32_t depth = state.depth;
  if (depth >= core::kMaxFrames) {
    note_loss(state, state.header->dropped_too_deep, count);
    return nullptr;
  }
  const std::uint32_t entry = take_entry(state);
  if (entry == core::kMaxScopes) {
    note_loss(state, state.header->dropped_no_scope, count);
    return nullptr;
  }
  ThreadData& data = ThreadData::of(state);
  constexpr auto kScope = static_cast<std::uint8_t>(core::Scope::kUserScope);
  const std::uint64_t packed = core::pack_name_and_scope(name_id, depth, kScope, core::kFlagNone);
  data.released[entry].store(false, std::memory_order_relaxed);
  // A used context's destructor has run: begin a new object in its place.
  auto* context = new (&data.contexts[entry]) ScopeContext;
  context->process = core::g_process.load(std::memory_order_relaxed);
  context->owner = &state;
  context->count = count;
  context->slot = state.slot;
  context->name_id = name_id;
  context->entry = entry;
  context->depth = static_cast<std::uint16_t>(depth);
  const std::uint64_t parent = top_count(state, depth);
  context->parent = parent == 0 ? 0 : core::OpId::make(state.slot, parent);
  write_open_op(state.frames[depth], {count, address, packed, parent, entry + 1});
  write_open_op(state.scopes[entry], {count, address, packed, parent, 0});
  context->t0_ticks = core::read_ticks();
  begin_open_op(state.frames[depth], count, context->t0_ticks);
  begin_open_op(state.scopes[entry], count, context->t0_ticks);
  state.scopes[entry].state.store(core::kScopeOpen, std::memory_order_release);
  if (state.header->scopes_used.load(std::memory_order_relaxed) <= entry) {
    state.header->scopes_used.store(entry + 1, std::memory_order_release);
  }
  set_depth(state, depth + 1);
  return std::unique_ptr<ObserverContext>(context);
}

void end_user_scope(ScopeContext& context, std::uint64_t t1_ticks) noexcept {
  core::Process* process = core::g_process.load(std::memory_order_acquire);
  if (context.process != process) {  // started by the parent of this process
    core::g_inherited_ends.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  ThreadState* state = core::t_state;
  if (state == nullptr) state = attach_ending_thread();
  if (state != nullptr) {
    push_record(*state, context, t1_ticks);
  } else {
    process->mapping.header().dropped_no_buffer.fetch_add(1, std::memory_order_relaxed);
  }
  // After the record, so that the flush thread never misses both. The owner's buffer is not
  // recycled while an entry of it is open.
  context.owner->scopes[context.entry].state.store(core::kScopeEnded, std::memory_order_release);
  if (!runs_on_owner(state, context)) return;
  detach_above(*state, context.depth, context.owner->scopes[context.entry]);
  tidy_stack(*state, 0);
}

}  // namespace torchtrace::observer
