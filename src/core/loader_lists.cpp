#include "core/loader_lists.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace torchtrace::core {

namespace {

pthread_mutex_t* g_lock = nullptr;

#if defined(__GLIBC__)
/// Where the loader keeps its state; empty where it does not say.
struct Region {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

Region state_of_loader() noexcept {
  void* begin = dlsym(RTLD_DEFAULT, "_rtld_global");
  Dl_info info{};
  void* symbol = nullptr;
  if (begin == nullptr || dladdr1(begin, &info, &symbol, RTLD_DL_SYMENT) == 0 ||
      symbol == nullptr || info.dli_saddr != begin) {
    return {};
  }
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  return {address, address + static_cast<const ElfW(Sym)*>(symbol)->st_size};
}

bool is_held_by(const pthread_mutex_t& mutex, int thread) noexcept {
  return mutex.__data.__kind == PTHREAD_MUTEX_RECURSIVE_NP && mutex.__data.__owner == thread &&
         mutex.__data.__count == 1 && mutex.__data.__lock != 0;
}

/// The one recursive mutex in `region` that this thread holds.
pthread_mutex_t* find_held_mutex(const Region& region) noexcept {
  const auto thread = static_cast<int>(syscall(SYS_gettid));
  pthread_mutex_t* found = nullptr;
  for (std::uintptr_t at = region.begin; at + sizeof(pthread_mutex_t) <= region.end;
       at += alignof(pthread_mutex_t)) {
    auto* const candidate = reinterpret_cast<pthread_mutex_t*>(at);
    if (!is_held_by(*candidate, thread)) continue;
    if (found != nullptr) return nullptr;
    found = candidate;
  }
  return found;
}

int look_from_inside(dl_phdr_info* /*info*/, std::size_t /*size*/, void* region) noexcept {
  g_lock = find_held_mutex(*static_cast<const Region*>(region));
  return 1;
}
#endif

}  // namespace

void find_loader_lists_lock() noexcept {
#if defined(__GLIBC__)
  Region region = state_of_loader();
  dl_iterate_phdr(look_from_inside, &region);
#endif
}

bool hold_loader_lists(const timespec& limit) noexcept {
  return g_lock != nullptr && pthread_mutex_clocklock(g_lock, CLOCK_MONOTONIC, &limit) == 0;
}

void release_loader_lists() noexcept { pthread_mutex_unlock(g_lock); }

void renew_loader_lists() noexcept {
#if defined(__GLIBC__)
  if (g_lock == nullptr) return;
  const pthread_mutex_t unlocked = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  *g_lock = unlocked;
#endif
}

}  // namespace torchtrace::core
