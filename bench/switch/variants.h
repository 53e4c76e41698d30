#pragma once

#include <stdexcept>

#include "observer/torch_library.h"

namespace torchtrace::bench {

/// One thing that PyTorch may call for each operator.
struct Variant {
  const char* name;
  /// Makes the callback. `torchtrace` is the agent's. Errors: throws std::runtime_error.
  observer::RecordFunctionCallback (*make)(const observer::TorchLibrary& torch,
                                           const observer::RecordFunctionCallback& torchtrace);
  bool is_paused;  ///< Disabled by at::disableCallback once registered.
};

/// The variant of this name. "none" has no `make`. Errors: throws std::runtime_error.
const Variant& find_variant(const char* name);

}  // namespace torchtrace::bench
