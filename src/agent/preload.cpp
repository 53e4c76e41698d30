#include <dlfcn.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "agent/agent.h"
#include "core/log.h"
#include "observer/torch_library.h"

/// What the loader sees of us: a constructor, and the functions of libc that stand in front of its
/// own. In a process that never loads PyTorch, this file is all that runs.

#define TORCHTRACE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using Dlopen = void* (*)(const char*, int);
Dlopen g_dlopen = nullptr;

/// Depth of dlopen calls that went through here on this thread.
thread_local int t_dlopen_depth __attribute__((tls_model("initial-exec"))) = 0;

Dlopen real_dlopen() noexcept {
  if (g_dlopen == nullptr) {
    g_dlopen = reinterpret_cast<Dlopen>(dlsym(RTLD_NEXT, "dlopen"));
    torchtrace::agent::set_real_dlopen(g_dlopen);
  }
  return g_dlopen;
}

/// Acts only after the outermost call has returned, and only where libtorch came with that call: a
/// library's constructor may call dlopen itself while those of the libraries below it, libtorch
/// perhaps, have not run yet, and opening one of them then runs them out of order, which has
/// crashed `import torch`.
__attribute__((noinline)) void* dlopen_and_look(const char* file, int mode) {
  const bool was_loaded = torchtrace::observer::torch_is_loaded();
  ++t_dlopen_depth;
  void* handle = real_dlopen()(file, mode);
  --t_dlopen_depth;
  if (handle == nullptr || t_dlopen_depth != 0) return handle;
  if (!was_loaded) {
    torchtrace::agent::look_for_torch();
  } else if (!torchtrace::agent::has_settled()) {
    // It came by a call that we did not see, which may still be under way.
    torchtrace::agent::look_for_torch_later();
  }
  return handle;
}

}  // namespace

/// Names without a slash are searched along the caller's RUNPATH, and "$ORIGIN" is the caller's
/// folder: those are passed on by a tail call, which leaves the return address, and with it the
/// caller, as it was.
/// Source: dlopen(3); glibc elf/dl-open.c takes the caller from the return address.
TORCHTRACE_EXPORT void* dlopen(const char* file, int mode) {
  if (file == nullptr || file[0] == '$' || std::strchr(file, '/') == nullptr ||
      torchtrace::agent::has_settled()) {
    return real_dlopen()(file, mode);
  }
  return dlopen_and_look(file, mode);
}

namespace {

[[noreturn]] void leave(int status) {
  torchtrace::agent::finish();
  for (;;) syscall(SYS_exit_group, status);
}

}  // namespace

/// Forked workers leave this way, without exit handlers. Source: _exit(2).
TORCHTRACE_EXPORT void _exit(int status) { leave(status); }
TORCHTRACE_EXPORT void _Exit(int status) noexcept { leave(status); }

/// One agent per process: a second one looks for this.
TORCHTRACE_EXPORT const char torchtrace_agent_v1[] = TORCHTRACE_VERSION;

namespace {

bool is_second_agent() noexcept {
  const void* first = dlsym(RTLD_DEFAULT, "torchtrace_agent_v1");
  if (first == nullptr || first == torchtrace_agent_v1) return false;
  torchtrace::core::say("another torchtrace agent is loaded already; this one stays off");
  return true;
}

__attribute__((constructor)) void on_load() {
  // A setuid program must not be made to write files by its caller's environment.
  if (getauxval(AT_SECURE) != 0 || is_second_agent()) return torchtrace::agent::stay_off();
  // Only here, while no other thread can be reading the environment. A stopped lttng-sessiond would
  // hold the loader's lock for 3 s. Source: lttng-ust(3), LTTNG_UST_REGISTER_TIMEOUT.
  setenv("LTTNG_UST_REGISTER_TIMEOUT", "0", 0);
  real_dlopen();
  torchtrace::agent::look_for_torch();
}

/// At the end of exit(), when all exit handlers and destructors of static objects have run: they
/// may run operators. Not an exit handler: registering one takes a lock of libc that another thread
/// may hold while this process is forked, and the child could never take it.
/// Source: glibc stdlib/cxa_atexit.c; elf/dl-fini.c.
__attribute__((destructor)) void on_exit_of_process() { torchtrace::agent::finish(); }

}  // namespace
