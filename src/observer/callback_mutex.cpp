#include "observer/callback_mutex.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <new>

#include "observer/imported_function.h"

namespace torchtrace::observer {

namespace {

std::atomic<pthread_mutex_t*> g_mutex{nullptr};

/// What the witnessing thread has locked so far.
struct Observation {
  std::atomic<pthread_t> thread{};
  std::atomic<bool> is_under_way{false};
  pthread_mutex_t* mutex = nullptr;
  bool is_one_mutex = true;
};
Observation g_observation;

alignas(ImportedFunction) unsigned char g_lock_function_memory[sizeof(ImportedFunction)];
ImportedFunction* g_lock_function = nullptr;

/// Stands in for pthread_mutex_lock, for all threads of libtorch_cpu.
int lock_and_note(pthread_mutex_t* mutex) {
  Observation& seen = g_observation;
  if (seen.is_under_way.load(std::memory_order_acquire) &&
      pthread_equal(seen.thread.load(std::memory_order_relaxed), pthread_self()) != 0) {
    if (seen.mutex != nullptr && seen.mutex != mutex) seen.is_one_mutex = false;
    seen.mutex = mutex;
  }
  return pthread_mutex_lock(mutex);
}

}  // namespace

MutexWitness::MutexWitness(const char* library_path) noexcept {
  if (*library_path == '\0') return;                              // would be the program itself
  void* library = dlopen(library_path, RTLD_NOLOAD | RTLD_LAZY);  // kept open, as it is elsewhere
  if (library == nullptr) return;
  g_observation.mutex = nullptr;
  g_observation.is_one_mutex = true;
  g_observation.thread.store(pthread_self(), std::memory_order_relaxed);
  g_observation.is_under_way.store(true, std::memory_order_release);
  g_lock_function = new (g_lock_function_memory)
      ImportedFunction(*static_cast<const link_map*>(library), "pthread_mutex_lock");
  g_lock_function->replace(reinterpret_cast<void*>(lock_and_note));
}

MutexWitness::~MutexWitness() {
  if (g_lock_function == nullptr) return;
  g_lock_function->restore();
  g_lock_function = nullptr;
  g_observation.is_under_way.store(false, std::memory_order_release);
  if (g_observation.is_one_mutex) g_mutex.store(g_observation.mutex, std::memory_order_release);
}

bool knows_callback_mutex() noexcept { return g_mutex.load(std::memory_order_acquire) != nullptr; }

bool hold_callback_mutex(const timespec& limit) noexcept {
  pthread_mutex_t* mutex = g_mutex.load(std::memory_order_acquire);
  return mutex != nullptr && pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &limit) == 0;
}

/// In the child too: an ordinary mutex does not look at who unlocks it.
void release_callback_mutex() noexcept {
  pthread_mutex_unlock(g_mutex.load(std::memory_order_acquire));
}

}  // namespace torchtrace::observer
