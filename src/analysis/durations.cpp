#include "analysis/durations.h"

#include <algorithm>

namespace torchtrace::analysis {

void Durations::add(std::uint64_t ns) {
  min_ns_ = values_.empty() ? ns : std::min(min_ns_, ns);
  max_ns_ = std::max(max_ns_, ns);
  total_ns_ += ns;
  values_.push_back(ns);
}

double Durations::mean_ns() const noexcept {
  return values_.empty() ? 0.0
                         : static_cast<double>(total_ns_) / static_cast<double>(values_.size());
}

std::uint64_t Durations::percentile_ns(unsigned percent) {
  if (values_.empty()) {
    return 0;
  }
  // ceil(count * percent / 100), split so that the product cannot overflow.
  const std::uint64_t count = values_.size();
  const std::uint64_t rank = count / 100 * percent + (count % 100 * percent + 99) / 100;
  const auto nth =
      values_.begin() + static_cast<std::ptrdiff_t>(std::max<std::uint64_t>(rank, 1) - 1);
  std::nth_element(values_.begin(), nth, values_.end());
  return *nth;
}

}  // namespace torchtrace::analysis
