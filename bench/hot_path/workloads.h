#pragma once

#include <functional>
#include <string>
#include <vector>

namespace torchtrace::bench {

/// One kind of operator call to be timed.
struct Workload {
  std::string name;
  /// Operators that PyTorch reports per call, by count; asserted by the caller against what is
  /// recorded.
  int events_per_call = 0;
  /// Calls per measurement: about a millisecond's worth, and fewer records than a ring holds.
  int calls = 0;
  std::function<void(int)> run;  ///< Calls it so many times.
};

/// The workloads, their tensors made. Thread: the one that calls; PyTorch's own pool has one
/// thread.
std::vector<Workload> make_workloads();

/// Version of the libtorch in use, as its headers say.
std::string torch_version();

}  // namespace torchtrace::bench
