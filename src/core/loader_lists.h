#pragma once

#include <time.h>

namespace torchtrace::core {

/// The lock that `dl_iterate_phdr` takes, held across a fork.
///
/// glibc's fork gives the child new copies of the loader's lock for dlopen and of that for thread-
/// local storage, and forgets the third, `_dl_load_write_lock`: in the child of a fork beside a
/// thread that was inside dl_iterate_phdr, dlopen or dlclose, it is held for ever by a thread that
/// is not there. What calls dl_iterate_phdr at its birth in the child, as lttng-ust does, then
/// hangs.
/// Source: glibc 2.36 sysdeps/nptl/_Fork.c and elf/dl-iteratephdr.c.
///
/// The lock has no name that a program can link to. It lies in the loader's exported state and is
/// known by this: a recursive mutex that is owned by the thread that is inside dl_iterate_phdr.
/// Where none or more than one such is found, as with another libc, all of these do nothing.

/// Looks for the lock; once, before the others.
void find_loader_lists_lock() noexcept;

/// Takes the lock, for a fork by this thread. False, and nothing to release: there is no lock, or
/// it was not to be had until `limit` (CLOCK_MONOTONIC). Whoever holds it may take the loader's
/// other lock only if no other thread can be waiting for this one with that in its hands: keep it
/// for a moment.
bool hold_loader_lists(const timespec& limit) noexcept;

/// After the fork, in the parent.
void release_loader_lists() noexcept;

/// After the fork, in the child, whose only thread holds it under the parent's thread number:
/// makes it anew. Also where it could not be had: better a list half-way changed than never a list
/// again.
void renew_loader_lists() noexcept;

}  // namespace torchtrace::core
