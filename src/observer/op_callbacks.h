#pragma once

#include "observer/torch_abi.h"

namespace torchtrace::observer {

/// The two callbacks that are registered with PyTorch, for one string ABI. They are never unloaded:
/// PyTorch calls the end callback of an operator that was open when the callback was removed.
/// Threads: any thread that runs operators. Hot: no lock, no allocation and no system call after a
/// thread's first operator, no locked instruction. Never throw; errno is not touched.
struct OpCallbacks {
  StartCallback start;
  EndCallback end;
};

OpCallbacks op_callbacks(StringAbi abi) noexcept;

}  // namespace torchtrace::observer
