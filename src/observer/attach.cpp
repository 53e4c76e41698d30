#include <algorithm>
#include <cstring>

#include "core/errno_guard.h"
#include "observer/op_path.h"

/// The first event of a thread or a process, and events whose layout is not verified: everything
/// that may make system calls on the op path.
namespace torchtrace::observer {

Registration g_registration;

namespace {

core::ThreadState* count_unbuffered(core::Process& process, bool is_start) noexcept {
  core::ProcessHeader& header = process.mapping.header();
  if (is_start) header.unbuffered_started.fetch_add(1, std::memory_order_relaxed);
  if (is_start) header.dropped_no_buffer.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

core::ThreadState* attach(std::uint64_t torch_thread, bool is_start) noexcept {
  const core::ErrnoGuard keep_errno;
  if (core::g_stopped.load(std::memory_order_relaxed)) return nullptr;
  core::Process* process = core::g_process.load(std::memory_order_acquire);
  if (process == nullptr) process = core::g_activate();
  if (process == nullptr) return nullptr;
  core::ThreadState* state = process->threads.attach(torch_thread);
  if (state == nullptr) return count_unbuffered(*process, is_start);
  if (state->observer_data == nullptr) state->observer_data = ThreadData::create();
  if (state->observer_data == nullptr) {
    core::ThreadRegistry::forget_this_thread();
    process->threads.recycle(*state);
    return count_unbuffered(*process, is_start);
  }
  return state;
}

}  // namespace

core::ThreadState* attach_thread(const RecordFunction& event) noexcept {
  return attach(read_at<std::uint64_t>(&event, kThreadIdOffset), true);
}

core::ThreadState* attach_ending_thread() noexcept {
  const GetCurrentThread current = g_registration.torch.current_thread_id;
  return attach(current == nullptr ? 0 : current(), false);
}

template <StringAbi abi>
NamedEvent name_slowly(core::ThreadState& state, const RecordFunction& event) noexcept {
  LayoutVerdict verdict = g_layout_verdict.load(std::memory_order_relaxed);
  if (verdict == LayoutVerdict::kUnchecked) {
    verdict = check_event<abi>(g_registration.torch, g_registration.callback, event);
  }
  if (verdict == LayoutVerdict::kOff || verdict == LayoutVerdict::kQuiesced) return {0, false};
  if (verdict == LayoutVerdict::kVerified) return {find_name<abi>(state, event), true};
  const char* name = g_registration.torch.name(&event);
  core::NameTable& table = core::g_process.load(std::memory_order_relaxed)->names;
  return {ThreadData::of(state).names.find(table, name, {name, {}}), true};
}

template NamedEvent name_slowly<StringAbi::kCxx11>(core::ThreadState&,
                                                   const RecordFunction&) noexcept;
template NamedEvent name_slowly<StringAbi::kOld>(core::ThreadState&,
                                                 const RecordFunction&) noexcept;

}  // namespace torchtrace::observer
