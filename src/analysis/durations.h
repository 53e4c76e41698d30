#pragma once

#include <cstdint>
#include <vector>

namespace torchtrace::analysis {

/// The durations of one operator's calls. Exact: keeps all of them, 8 bytes each. Everything else
/// knows only this interface, so that a sketch of fixed size can take its place.
class Durations {
 public:
  void add(std::uint64_t ns);

  std::uint64_t count() const noexcept { return values_.size(); }
  std::uint64_t total_ns() const noexcept { return total_ns_; }
  std::uint64_t min_ns() const noexcept { return min_ns_; }  ///< 0 where there are none.
  std::uint64_t max_ns() const noexcept { return max_ns_; }
  double mean_ns() const noexcept;

  /// The smallest duration that at least `percent` % of all do not exceed (nearest rank); 0 where
  /// there are none. `percent`: above 0, at most 100. Reorders the values: not const, not
  /// thread-safe.
  std::uint64_t percentile_ns(unsigned percent);

 private:
  std::vector<std::uint64_t> values_;
  std::uint64_t total_ns_ = 0;
  std::uint64_t min_ns_ = 0;
  std::uint64_t max_ns_ = 0;
};

}  // namespace torchtrace::analysis
