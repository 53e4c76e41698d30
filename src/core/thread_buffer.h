#pragma once

#include "core/layout.h"

namespace torchtrace::core {

/// The calling thread's buffer; nullptr before its first operator, after its end, and in a forked
/// child. One pointer, because a preloaded library's initial-exec storage is shared with everything
/// that the program opens later, and its surplus is small. `__thread`, not `thread_local`: that
/// might have a constructor elsewhere, so each access would first look for one.
extern __thread ThreadBuffer* t_buffer __attribute__((tls_model("initial-exec")));

}  // namespace torchtrace::core
