#include "observer/observer.h"

#include <algorithm>

#include "observer/op_callbacks.h"
#include "observer/op_path.h"
#include "observer/registration.h"

namespace torchtrace::observer {

namespace {

/// Addresses of the operators that were open on the thread that forked. Written by that thread
/// before the fork, used in the child only.
struct Inherited {
  std::uintptr_t addresses[core::kMaxFrames];
  std::uint32_t count;
};
Inherited g_before_fork;
Inherited g_inherited;

}  // namespace

void start(const TorchLibrary& torch, const std::array<bool, core::kScopeCount>& scopes,
           const filters::NameFilter& names) noexcept {
  g_registration.torch = torch;
  g_registration.names = &names;
  const OpCallbacks callbacks = op_callbacks(torch.string_abi);
  RecordFunctionCallback& callback = g_registration.callback;
  callback = {};
  callback.start = callbacks.start;
  callback.end = callbacks.end;
  callback.sampling_probability = 1.0;
  std::copy(scopes.begin(), scopes.end(), callback.scopes);
  register_callback(g_registration.torch, callback);
}

void quiesce() noexcept {
  close_registration();
  quiesce_layout();
}

const TorchLibrary& torch() noexcept { return g_registration.torch; }

namespace {

void note_open_operators() noexcept {
  g_before_fork.count = 0;
  const core::ThreadBuffer* buffer = core::t_buffer;
  if (buffer == nullptr) return;
  const std::uint32_t depth = buffer->header.depth.load(std::memory_order_relaxed);
  for (std::uint32_t at = 1; at <= depth; ++at) {
    const core::OpenOp& frame = buffer->frames[at];
    // The ends of user scopes carry their context, which tells by itself.
    if (frame.scope_entry.load(std::memory_order_relaxed) != 0 || is_filtered(frame)) continue;
    g_before_fork.addresses[g_before_fork.count++] = frame.address.load(std::memory_order_relaxed);
  }
}

}  // namespace

bool before_fork() noexcept {
  note_open_operators();
  return hold_registration();
}

void after_fork_in_parent() noexcept { release_registration(); }

void after_fork_in_child() noexcept {
  renew_registration();
  g_inherited = g_before_fork;
  resume_layout();  // a fork from an exit handler, after the final drain
}

void end_without_start(std::uint64_t address) noexcept {
  if (g_inherited.count == 0) return;
  std::uintptr_t* const end = g_inherited.addresses + g_inherited.count;
  std::uintptr_t* const found = std::find(g_inherited.addresses, end, address);
  if (found == end) return;
  *found = *(end - 1);
  --g_inherited.count;
  core::g_inherited_ends.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace torchtrace::observer
