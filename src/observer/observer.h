#pragma once

#include <array>

#include "observer/torch_library.h"

namespace torchtrace::observer {

/// Registers the callbacks for `scopes` with the PyTorch that `torch` describes, for good:
/// operators already running get no end. Thread: one, outside the loader; may take PyTorch's
/// callback lock. Precondition: `core::g_activate` set.
void start(const TorchLibrary& torch, const std::array<bool, core::kScopeCount>& scopes) noexcept;

/// Takes the callbacks back. Operators that are open still get their end.
void stop() noexcept;

/// The library that `start` was given; path empty before that.
const TorchLibrary& torch() noexcept;

/// fork: the child drops the frames of the thread that forked and counts their ends as inherited.
/// `before_fork` runs on that thread in the parent, `after_fork_in_child` on it in the child.
void before_fork() noexcept;
void after_fork_in_child() noexcept;

}  // namespace torchtrace::observer
