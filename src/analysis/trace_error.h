#pragma once

#include <stdexcept>

namespace torchtrace::analysis {

/// What stops the reading of a trace, as one sentence for the user that names the file or
/// directory.
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace torchtrace::analysis
