#include "environment_block.h"

#include <algorithm>

namespace torchtrace::cli {
namespace {

bool names(const std::string& entry, const std::string& name) {
  return entry.size() > name.size() && entry[name.size()] == '=' &&
         entry.compare(0, name.size(), name) == 0;
}

}  // namespace

EnvironmentBlock::EnvironmentBlock(const char* const* block) {
  for (; block != nullptr && *block != nullptr; ++block) entries_.emplace_back(*block);
}

const char* EnvironmentBlock::get(const std::string& name) const {
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&name](const std::string& e) { return names(e, name); });
  return entry == entries_.end() ? nullptr : entry->c_str() + name.size() + 1;
}

void EnvironmentBlock::set(const std::string& name, const std::string& value) {
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(),
                                [&name](const std::string& e) { return names(e, name); }),
                 entries_.end());
  entries_.push_back(name + '=' + value);
}

std::vector<char*> EnvironmentBlock::pointers() const {
  std::vector<char*> pointers;
  pointers.reserve(entries_.size() + 1);
  // execve takes char* for C's sake and changes nothing.
  for (const std::string& entry : entries_) pointers.push_back(const_cast<char*>(entry.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace torchtrace::cli
