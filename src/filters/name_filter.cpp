#include "filters/name_filter.h"

#include <algorithm>

#include "filters/glob.h"

namespace torchtrace::filters {

namespace {

bool any_matches(const std::vector<std::string>& patterns, std::string_view name) noexcept {
  return std::any_of(patterns.begin(), patterns.end(),
                     [name](const std::string& pattern) { return matches_glob(pattern, name); });
}

}  // namespace

bool NameFilter::keeps(std::string_view qualified_name) const noexcept {
  if (any_matches(exclude_, qualified_name)) return false;
  return include_.empty() || any_matches(include_, qualified_name);
}

}  // namespace torchtrace::filters
