#pragma once

#include <time.h>

namespace torchtrace::observer {

/// The mutex of PyTorch's list of callbacks, which is held across each fork.
///
/// PyTorch copies that list under the mutex whenever a thread runs its first operator, a backward
/// node, or anything after a change of the list; and since the list is no longer empty because of
/// us, the copy allocates. fork holds malloc's locks while it copies the process, so a thread that
/// comes by meanwhile stands still in the allocation, mutex in hand, and the child inherits it
/// locked for ever: it hung at its first operator in 5 of 12 runs of a program that forks beside
/// threads that have just started. Without the callback the copy is empty and takes some ns.
/// Source: GlobalCallbackManager::getSnapshot in aten/src/ATen/record_function.cpp; glibc fork.c.
///
/// PyTorch does not say where its mutex is. `MutexWitness` sees it being locked.

/// While one exists, libtorch_cpu's calls of `pthread_mutex_lock` come past us, and the mutex that
/// the calling thread locks is noted; if it is one and the same each time, it is the one. The
/// calling thread registers its callback meanwhile, which locks that mutex and nothing else. Done
/// by the pointers through which the library reaches functions of others, which are put back.
/// Thread: one at a time, outside the loader. Errors: nothing is learned, forks are not protected.
class MutexWitness {
 public:
  /// `library_path`: of the libtorch_cpu that is loaded.
  explicit MutexWitness(const char* library_path) noexcept;
  MutexWitness(const MutexWitness&) = delete;
  MutexWitness& operator=(const MutexWitness&) = delete;
  ~MutexWitness();
};

/// True if a witness has seen the mutex, so that it can be held.
bool knows_callback_mutex() noexcept;

/// Around a fork, on the thread that forks. `hold_callback_mutex` waits until `limit`
/// (CLOCK_MONOTONIC) at most; if true, the mutex has to be released in parent and child.
bool hold_callback_mutex(const timespec& limit) noexcept;
void release_callback_mutex() noexcept;

}  // namespace torchtrace::observer
