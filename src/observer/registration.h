#pragma once

#include "observer/torch_library.h"

namespace torchtrace::observer {

/// Our one callback in PyTorch's list of global callbacks: added once, switched off while nothing
/// records, looked for since the program may remove it.
///
/// PyTorch keeps that list under a mutex and counts its versions; each thread that runs operators
/// compares the version on every event, and copies the list when it differs. So a change is seen by
/// each thread at its next operator, costs it that one copy, and a callback that is switched off
/// costs nothing. Operators that have begun keep the callbacks that they began with: their end
/// still comes. Source: aten/src/ATen/record_function.cpp of PyTorch 1.13 to 2.14.
///
/// Thread: any; serialised by a lock of our own that forks wait for, since a child that is born
/// while one of these calls holds PyTorch's mutex could never take it. A thread's first call makes
/// PyTorch's state of that thread (a number in its count of threads, some KB).
/// Every function does nothing after `close_registration`, and where it is not registered.

/// Adds the callback. Precondition: not registered, unless closed since (tests).
void register_callback(const TorchLibrary& torch, const RecordFunctionCallback& callback) noexcept;

/// Switches the callback off. False where this PyTorch cannot: it stays on.
bool pause() noexcept;

/// Switches it on again: each thread's next operator is recorded.
void resume() noexcept;

/// True if PyTorch has our callback, switched on or off; unless `finds_removal` has found otherwise
/// that is from when it was added.
bool is_registered() noexcept;

/// Looks whether the program has removed our callback (`torch._C._autograd._clear_callbacks`,
/// `at::clearGlobalCallbacks`), says so once, and adds it again if `reregister`. Cheap: what an
/// operator pays to find its callbacks, so no lock of PyTorch's unless the list has changed. Not
/// noticed: a removal while paused, until `resume`; and any where `at::getStepCallbacks` is not
/// what we know.
void look_after_registration(bool reregister) noexcept;

/// For good: the process ends. Takes no lock.
void close_registration() noexcept;

/// Around a fork, on the thread that forks: `hold_registration` keeps other threads out of the
/// functions above, and, if paused, switches the callback on, so that the child is born with it (it
/// could not do so by itself without a lock that another thread of its parent may have held).
/// False if another thread did not leave in time. `release_registration` is for the parent;
/// `renew_registration` for the child, whether it was held or not.
bool hold_registration() noexcept;
void release_registration() noexcept;
void renew_registration() noexcept;

}  // namespace torchtrace::observer
