#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace torchtrace::filters {

/// `filters.include` and `filters.exclude`: whether an operator is kept, by its qualified name.
/// Immutable, hence usable from any thread. Its verdict is asked for once per name and thread.
class NameFilter {
 public:
  NameFilter() = default;
  /// Globs (filters/glob.h). Errors: may throw std::bad_alloc.
  NameFilter(std::vector<std::string> include, std::vector<std::string> exclude)
      : include_(std::move(include)), exclude_(std::move(exclude)) {}

  /// With any `include`, what none of them fits is out; `exclude` beats `include`.
  bool keeps(std::string_view qualified_name) const noexcept;

 private:
  std::vector<std::string> include_;
  std::vector<std::string> exclude_;
};

}  // namespace torchtrace::filters
