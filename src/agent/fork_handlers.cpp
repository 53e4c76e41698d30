#include "agent/fork_handlers.h"

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <cstring>

#include "agent/agent.h"
#include "core/loader_lists.h"
#include "flush/flush_thread.h"
#include "flush/lttng_sink.h"
#include "observer/callback_mutex.h"
#include "observer/observer.h"

namespace torchtrace::agent {

namespace {

/// How long a fork waits for the flush thread to leave the loader. A child that is born in the
/// middle of that finds a library that never finishes loading. Loading takes some ms, on a machine
/// with far more work than cores a second.
constexpr time_t kLoaderPatience_s = 10;

/// Of the thread that forks: several may at once, glibc runs the handlers without a lock.
struct ForkInProgress {
  flush::FlushThread* thread = nullptr;
  const torchtrace_lttng_provider* provider = nullptr;
  sigset_t signals{};
  bool holds_loader = false;
  bool holds_fork = false;
  bool holds_registration = false;
  bool holds_callbacks = false;
  bool holds_loader_lists = false;
};
/// One fork at a time between `prepare` and the handler after it: `observer::before_fork` keeps
/// what it saw in one place.
pthread_mutex_t g_fork_mutex = PTHREAD_MUTEX_INITIALIZER;
thread_local ForkInProgress t_fork __attribute__((tls_model("initial-exec")));

int match_fork_library(dl_phdr_info* info, std::size_t /*size*/, void* /*data*/) {
  return info->dlpi_name != nullptr &&
                 std::strstr(info->dlpi_name, "liblttng-ust-fork.so") != nullptr
             ? 1
             : 0;
}

/// Looked for once: a fork beside a thread that is inside the loader leaves the child with the lock
/// of `dl_iterate_phdr` held for ever, and the child may fork as well.
bool g_lttng_forks_by_itself = false;

void prepare() {
  t_fork = {};
  t_fork.thread = flush_thread();
  // lttng-ust, while it is being loaded, forks a helper that makes a file in /dev/shm. It must not
  // wait for its own loading to end.
  if (t_fork.thread != nullptr && t_fork.thread->is_this_thread()) return;
  timespec limit{};
  clock_gettime(CLOCK_MONOTONIC, &limit);
  limit.tv_sec += kLoaderPatience_s;
  if (t_fork.thread != nullptr) {
    t_fork.holds_loader =
        pthread_mutex_clocklock(&t_fork.thread->loader_mutex(), CLOCK_MONOTONIC, &limit) == 0;
  }
  t_fork.holds_fork = pthread_mutex_clocklock(&g_fork_mutex, CLOCK_MONOTONIC, &limit) == 0;
  t_fork.holds_registration = observer::before_fork();
  t_fork.holds_callbacks = observer::hold_callback_mutex(limit);
  // Also where no operator has run since the last fork: lttng-ust was loaded before that.
  if (!g_lttng_forks_by_itself) t_fork.provider = flush::loaded_lttng_provider();
  if (t_fork.provider == nullptr) return;
  t_fork.provider->before_fork(&t_fork.signals);
  // lttng-ust reads them in the child. Last, so that they are held for a moment only.
  t_fork.holds_loader_lists = core::hold_loader_lists(limit);
}

/// The child's copies are locked by the same thread, so it may unlock them.
void release_locks() noexcept {
  if (t_fork.holds_fork) pthread_mutex_unlock(&g_fork_mutex);
  if (t_fork.holds_loader) pthread_mutex_unlock(&t_fork.thread->loader_mutex());
}

void in_parent() {
  if (t_fork.holds_loader_lists) core::release_loader_lists();
  if (t_fork.provider != nullptr) t_fork.provider->after_fork_parent(&t_fork.signals);
  if (t_fork.holds_callbacks) observer::release_callback_mutex();
  if (t_fork.holds_registration) observer::after_fork_in_parent();
  release_locks();
}

/// In the child of a fork beside a thread that was inside dlopen or dlclose, the loader's lists are
/// as that thread left them; the next dlopen may fail an assertion and end the process.
/// Source: glibc elf/dl-open.c, dl_open_worker_begin; link.h on `_r_debug`.
bool loader_is_half_way() noexcept { return _r_debug.r_state != r_debug::RT_CONSISTENT; }

/// lttng-ust begins anew in the child, by a dlopen of itself among other things.
void renew_lttng() noexcept {
  if (!loader_is_half_way()) {
    if (t_fork.provider != nullptr) t_fork.provider->after_fork_child(&t_fork.signals);
    return;
  }
  // Gives back its locks and the signals, and starts nothing.
  if (t_fork.provider != nullptr) t_fork.provider->after_fork_parent(&t_fork.signals);
  flush::give_up_lttng();
}

void in_child() {
  if (t_fork.provider != nullptr) core::renew_loader_lists();
  renew_lttng();
  if (t_fork.holds_callbacks) observer::release_callback_mutex();
  observer::after_fork_in_child();
  release_locks();
  forget_parent();
}

}  // namespace

void install_fork_handlers() noexcept {
  g_lttng_forks_by_itself = dl_iterate_phdr(match_fork_library, nullptr) != 0;
  core::find_loader_lists_lock();
  pthread_atfork(prepare, in_parent, in_child);
}

}  // namespace torchtrace::agent
