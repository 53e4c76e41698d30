#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace torchtrace::analysis {

/// Numbers names from 0 in the order of first use.
class NameTable {
 public:
  std::uint32_t number(std::string_view name) {
    const auto known = numbers_.find(name);
    return known != numbers_.end() ? known->second : add(name);
  }

  const std::string& name(std::uint32_t number) const { return names_[number]; }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(names_.size()); }

 private:
  std::uint32_t add(std::string_view name) {
    names_.emplace_back(name);
    return numbers_.emplace(names_.back(), size() - 1).first->second;
  }

  std::deque<std::string> names_;  ///< Never moves its elements: `numbers_` refers to them.
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

}  // namespace torchtrace::analysis
