#include "agent/fork_handlers.h"

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <cstring>

#include "agent/agent.h"
#include "flush/flush_thread.h"
#include "observer/observer.h"

namespace torchtrace::agent {

namespace {

/// How long a fork waits for the flush thread to leave the loader, whose lock the child would
/// inherit.
constexpr time_t kLoaderPatience_s = 1;

/// One fork at a time reaches the handlers: glibc holds its lock of handlers while it runs them.
struct ForkInProgress {
  flush::FlushThread* thread = nullptr;
  const torchtrace_lttng_provider* provider = nullptr;
  sigset_t signals{};
  bool holds_loader = false;
};
ForkInProgress g_fork;

int match_fork_library(dl_phdr_info* info, std::size_t /*size*/, void* /*data*/) {
  return info->dlpi_name != nullptr &&
                 std::strstr(info->dlpi_name, "liblttng-ust-fork.so") != nullptr
             ? 1
             : 0;
}

bool lttng_forks_by_itself() noexcept { return dl_iterate_phdr(match_fork_library, nullptr) != 0; }

void prepare() {
  g_fork = {};
  observer::before_fork();
  g_fork.thread = flush_thread();
  if (g_fork.thread == nullptr) return;
  timespec limit{};
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += kLoaderPatience_s;
  g_fork.holds_loader = pthread_mutex_timedlock(&g_fork.thread->loader_mutex(), &limit) == 0;
  if (!lttng_forks_by_itself()) g_fork.provider = g_fork.thread->provider();
  if (g_fork.provider != nullptr) g_fork.provider->before_fork(&g_fork.signals);
}

void release_loader() noexcept {
  if (g_fork.holds_loader) pthread_mutex_unlock(&g_fork.thread->loader_mutex());
}

void in_parent() {
  if (g_fork.provider != nullptr) g_fork.provider->after_fork_parent(&g_fork.signals);
  release_loader();
}

void in_child() {
  if (g_fork.provider != nullptr) g_fork.provider->after_fork_child(&g_fork.signals);
  release_loader();
  observer::after_fork_in_child();
  forget_parent();
}

}  // namespace

void install_fork_handlers() noexcept { pthread_atfork(prepare, in_parent, in_child); }

}  // namespace torchtrace::agent
