#pragma once

#include <array>

#include "filters/name_filter.h"
#include "observer/torch_library.h"

namespace torchtrace::observer {

/// Registers the callbacks for `scopes` with the PyTorch that `torch` describes (registration.h):
/// operators already running get no end. `names`: which are recorded; kept for good by the caller.
/// Thread: one, outside the loader; may take PyTorch's callback lock. Precondition:
/// `core::g_activate` set.
void start(const TorchLibrary& torch, const std::array<bool, core::kScopeCount>& scopes,
           const filters::NameFilter& names) noexcept;

/// From now on no operator that starts is recorded; those that are open still get their end. For
/// the end of the process: takes no lock, and leaves the callbacks where they are, for good.
void quiesce() noexcept;

/// The library that `start` was given; path empty before that.
const TorchLibrary& torch() noexcept;

/// fork: the child drops the frames of the thread that forked and counts their ends as inherited.
/// All on the thread that forks. `before_fork` keeps other threads out of PyTorch's list of
/// callbacks and returns true if it could; only then `after_fork_in_parent` is to be called.
bool before_fork() noexcept;
void after_fork_in_parent() noexcept;
void after_fork_in_child() noexcept;

}  // namespace torchtrace::observer
