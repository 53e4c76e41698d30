#include <algorithm>
#include <cstring>

#include "core/errno_guard.h"
#include "observer/op_path.h"

/// The first event of a thread or a process, and events whose layout is not verified: everything
/// that may make system calls on the op path.
namespace torchtrace::observer {

Registration g_registration;

namespace {

core::ThreadBuffer* count_unbuffered(core::Process& process, bool is_start) noexcept {
  core::ProcessHeader& header = process.mapping.header();
  if (is_start) header.unbuffered_started.fetch_add(1, std::memory_order_relaxed);
  if (is_start) header.dropped_no_buffer.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

core::ThreadBuffer* attach(std::uint64_t torch_thread, bool is_start) noexcept {
  const core::ErrnoGuard keep_errno;
  if (core::g_stopped.load(std::memory_order_relaxed)) return nullptr;
  core::Process* process = core::g_process.load(std::memory_order_acquire);
  if (process == nullptr) process = core::g_activate();
  if (process == nullptr) return nullptr;
  core::ThreadBuffer* buffer = process->threads.attach(torch_thread);
  if (buffer == nullptr) return count_unbuffered(*process, is_start);
  core::ThreadHeader& header = buffer->header;
  if (header.observer_data == nullptr) header.observer_data = ThreadData::create();
  if (header.observer_data == nullptr) {
    core::ThreadRegistry::forget_this_thread();
    process->threads.recycle(*buffer);
    return count_unbuffered(*process, is_start);
  }
  return buffer;
}

}  // namespace

core::ThreadBuffer* attach_thread(const RecordFunction& event) noexcept {
  return attach(read_at<std::uint64_t>(&event, kThreadIdOffset), true);
}

core::ThreadBuffer* attach_ending_thread() noexcept {
  const GetCurrentThread current = g_registration.torch.current_thread_id;
  return attach(current == nullptr ? 0 : current(), false);
}

namespace {

/// Name of an event whose layout is verified.
template <StringAbi abi>
std::uint32_t find_name(NameCache& cache, core::NameTable& table,
                        const RecordFunction& event) noexcept {
  const char* function = reinterpret_cast<const char*>(&event) + kFunctionOffset;
  if (read_at<std::uint8_t>(&event, Offsets<abi>::kFunctionIndex) != kFunctionIsSchema) {
    const std::string_view text = view_string<abi>(function);
    return cache.find(table, *g_registration.names, text.data(), {text, {}}, nullptr);
  }
  const auto* schema = read_at<const char*>(function, 0);
  const NameCache::Name name{view_string<abi>(schema),
                             view_string<abi>(schema + Offsets<abi>::kOverloadInSchema)};
  return cache.find(table, *g_registration.names, schema, name,
                    abi == StringAbi::kCxx11 ? schema : nullptr);
}

}  // namespace

template <StringAbi abi>
NamedEvent name_event(core::ThreadBuffer& buffer, const RecordFunction& event) noexcept {
  LayoutVerdict verdict = g_layout_verdict.load(std::memory_order_relaxed);
  if (verdict == LayoutVerdict::kUnchecked) {
    verdict = check_event<abi>(g_registration.torch, g_registration.callback, event);
  }
  if (verdict == LayoutVerdict::kOff || verdict == LayoutVerdict::kQuiesced) return {0, false};
  NameCache& cache = ThreadData::of(buffer.header).names;
  core::NameTable& table = core::g_process.load(std::memory_order_relaxed)->names;
  if (verdict == LayoutVerdict::kVerified) return {find_name<abi>(cache, table, event), true};
  const char* name = g_registration.torch.name(&event);
  return {cache.find(table, *g_registration.names, name, {name, {}}, nullptr), true};
}

template NamedEvent name_event<StringAbi::kCxx11>(core::ThreadBuffer&,
                                                  const RecordFunction&) noexcept;
template NamedEvent name_event<StringAbi::kOld>(core::ThreadBuffer&,
                                                const RecordFunction&) noexcept;

}  // namespace torchtrace::observer
