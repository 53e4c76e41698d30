#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/names.h"
#include "filters/name_filter.h"
#include "observer/equal_bytes.h"
#include "observer/torch_abi.h"

namespace torchtrace::observer {

/// One thread's cache from the address of a schema or string to the name's id.
///
/// An address alone proves nothing: string-named scopes reuse theirs (62 % wrong names in a
/// simulation with eight names), and a schema can be deregistered and another made in its place. So
/// a hit counts only if the text agrees too.
class NameCache {
 public:
  struct Name {
    std::string_view base;
    std::string_view overload;
  };

  /// Id of the name of the schema at `schema`, with `kFilteredOut` if the filter leaves it out;
  /// `kUnknown` if this cache cannot tell, which the general `find` then can. Hot: no call.
  ///
  /// The two strings that begin a schema are compared as they lie there, with one image of 64
  /// bytes: short ones, up to 15 characters, lie in them as a whole. The image also holds where
  /// they point to, hence the schema's own address. Characters elsewhere, of a long base name, are
  /// compared besides.
  std::uint32_t find_schema(const char* schema) const noexcept {
    const Entry& entry = entries_[index_of(schema)];
    if (!equal_64_bytes(entry.image, schema)) return kUnknown;
    if (entry.elsewhere == 0) return entry.id;
    const auto* base = read_at<const char*>(schema, 0);
    return equal_long(entry.text, base, entry.elsewhere) ? entry.id : kUnknown;
  }

  /// Id of the name whose object is at `key` and whose text is one string; `kUnknown` as above.
  std::uint32_t find_string(const void* key, std::string_view text) const noexcept {
    const Entry& entry = entries_[index_of(key)];
    const bool agrees = entry.key == key && entry.length == text.size() &&
                        equal_bytes(entry.text, text.data(), text.size());
    return agrees ? entry.id : kUnknown;
  }

  /// The same for any name; asks the name table where the cache does not know it. `schema` is where
  /// the two strings lie if they may be compared as they lie, else nullptr.
  std::uint32_t find(core::NameTable& table, const filters::NameFilter& filter, const void* key,
                     const Name& name, const char* schema) noexcept {
    Entry& entry = entries_[index_of(key)];
    if (entry.key != key || !agrees(entry, name)) remember(table, filter, entry, key, name);
    if (schema != nullptr) take_image(entry, name, schema);
    return entry.id;
  }

  /// Also the id of names that did not fit into the table: those take the general way each time.
  static constexpr std::uint32_t kUnknown = core::NameTable::kOverflowId;
  /// Added to an id: the filter's verdict, asked for once.
  static constexpr std::uint32_t kFilteredOut = 1U << 31U;
  /// Neither unknown nor filtered out, in one comparison.
  static bool is_kept(std::uint32_t id) noexcept { return static_cast<std::int32_t>(id) > 0; }

 private:
  struct alignas(128) Entry {
    char image[64];           ///< Of a schema's first bytes; zero if it cannot serve.
    const void* key;          ///< The schema, or the string's characters.
    const char* text;         ///< In the mapping's arena, so stable.
    std::uint32_t id;         ///< core/names.h, and `kFilteredOut`
    std::uint32_t length;     ///< Of `text`.
    std::uint32_t elsewhere;  ///< Length of the base name if it does not lie in the image, else 0.
  };
  static constexpr unsigned kIndexBits = 9;
  /// Characters that a std::string holds in itself. Source: libstdc++ bits/basic_string.h.
  static constexpr std::size_t kShortString = 15;

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

  static void remember(core::NameTable& table, const filters::NameFilter& filter, Entry& entry,
                       const void* key, const Name& name) noexcept {
    const std::uint32_t id = table.intern(name.base, name.overload);
    const std::string_view text = table.text(id);
    entry = {};
    entry.key = key;
    entry.text = text.data();
    entry.id = id | (filter.keeps(id == kUnknown ? name.base : text) ? 0 : kFilteredOut);
    entry.length = static_cast<std::uint32_t>(text.size());
  }

  static void take_image(Entry& entry, const Name& name, const char* schema) noexcept {
    constexpr StringAbi kAbi = StringAbi::kCxx11;
    const bool base_is_inside = name.base.data() == schema + 16;
    const bool overload_is_inside =
        name.overload.data() == schema + Offsets<kAbi>::kOverloadInSchema + 16;
    // A long overload name is rare enough to take the general way.
    if (!overload_is_inside || (!base_is_inside && name.base.size() <= kShortString)) return;
    // A text that was cut is no proof.
    if (name.base.size() > core::NameTable::kMaxNameBytes) return;
    std::memcpy(entry.image, schema, sizeof(entry.image));
    entry.elsewhere = base_is_inside ? 0 : static_cast<std::uint32_t>(name.base.size());
  }

  Entry entries_[std::size_t{1} << kIndexBits] = {};
};

}  // namespace torchtrace::observer
