#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/names.h"

namespace torchtrace::observer {

/// True if the `sizeof(Word)` bytes at each agree.
template <class Word>
bool equal_words(const char* left, const char* right) noexcept {
  Word a = 0;
  Word b = 0;
  std::memcpy(&a, left, sizeof(Word));
  std::memcpy(&b, right, sizeof(Word));
  return a == b;
}

/// Same for `size` bytes, at least one word: the last word may overlap the one before.
template <class Word>
bool equal_by_words(const char* left, const char* right, std::size_t size) noexcept {
  const std::size_t last = size - sizeof(Word);
  for (std::size_t at = 0; at < last; at += sizeof(Word)) {
    if (!equal_words<Word>(left + at, right + at)) return false;
  }
  return equal_words<Word>(left + last, right + last);
}

/// True if `size` bytes agree. Inline, by words: a call to memcmp would cost more than the
/// comparison of a typical name, and would be a call on the op path. Reads exactly `size` bytes of
/// each.
inline bool equal_bytes(const char* left, const char* right, std::size_t size) noexcept {
  if (size >= 8) return equal_by_words<std::uint64_t>(left, right, size);
  if (size >= 4) return equal_by_words<std::uint32_t>(left, right, size);
  for (std::size_t at = 0; at < size; ++at) {
    if (left[at] != right[at]) return false;
  }
  return true;
}

/// One thread's cache from the address of a schema or string to the name's id.
///
/// An address alone proves nothing: string-named scopes reuse theirs (62 % wrong names in a
/// simulation with eight names), and a schema can be deregistered and another made in its place. So
/// a hit counts only if the text agrees with the name table's.
class NameCache {
 public:
  struct Name {
    std::string_view base;
    std::string_view overload;
  };

  /// Id of the name whose object is at `key`. Hot: no call unless the cache misses.
  std::uint32_t find(core::NameTable& table, const void* key, const Name& name) noexcept {
    Entry& entry = entries_[index_of(key)];
    if (entry.key == key && agrees(entry, name)) return entry.id;
    return miss(table, entry, key, name);
  }

 private:
  struct Entry {
    const void* key;
    const char* text;  ///< In the mapping's arena, so stable.
    std::uint32_t id;
    std::uint32_t length;
  };
  static constexpr unsigned kIndexBits = 9;

  static std::size_t index_of(const void* key) noexcept {
    // Fibonacci hashing; source: Knuth, TAOCP vol. 3, 6.4.
    return reinterpret_cast<std::uintptr_t>(key) * 0x9E3779B97F4A7C15U >> (64U - kIndexBits);
  }

  static bool agrees(const Entry& entry, const Name& name) noexcept {
    const std::size_t base = name.base.size();
    const std::size_t overload = name.overload.size();
    if (entry.length != base + (overload == 0 ? 0 : 1 + overload)) return false;
    if (!equal_bytes(entry.text, name.base.data(), base)) return false;
    return overload == 0 || (entry.text[base] == '.' &&
                             equal_bytes(entry.text + base + 1, name.overload.data(), overload));
  }

  __attribute__((noinline, cold)) static std::uint32_t miss(core::NameTable& table, Entry& entry,
                                                            const void* key,
                                                            const Name& name) noexcept {
    const std::uint32_t id = table.intern(name.base, name.overload);
    const std::string_view text = table.text(id);
    entry = {key, text.data(), id, static_cast<std::uint32_t>(text.size())};
    return id;
  }

  Entry entries_[std::size_t{1} << kIndexBits] = {};
};

}  // namespace torchtrace::observer
