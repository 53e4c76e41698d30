#pragma once

#include <stdexcept>

namespace torchtrace::recovery {

/// One sentence for the user: what cannot be recovered, and why.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace torchtrace::recovery
