#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/layout.h"

namespace torchtrace::core {

class Mapping;

/// The texts of a name arena, in the process itself or in a copy of what a dead one has left.
class NameArena {
 public:
  /// `bytes` that may be read from `names` on; of a multiple of 8.
  NameArena(const char* names, std::uint64_t bytes) noexcept : names_(names), bytes_(bytes) {}

  /// Text of an id, with a NUL behind it; never empty, never outside the arena, whatever that
  /// holds. Valid as long as the arena.
  std::string_view text(std::uint32_t id) const noexcept;

 private:
  const char* names_;
  std::uint64_t bytes_;
};

/// The process's table of operator names: each distinct name once, in the arena of the shared
/// mapping, so that a killed program's operators can still be named.
///
/// Lock-free and without allocation, hence safe in a fork child and inside a signal handler: the
/// arena is append-only, and a name becomes visible by one compare-and-swap of its hash slot. Two
/// threads that add the same name at once leave one unused copy in the arena. Bounds: `kNameSlots`
/// * 3/4 names and the arena's size; further names get id 0 and are counted.
class NameTable {
 public:
  static constexpr std::uint32_t kNameSlots = 1U << 17U;
  static constexpr std::uint32_t kMaxNameBytes = 1000;  ///< Longer names are cut.
  static constexpr std::uint32_t kOverflowId = 0;

  /// Maps the private hash table. False if there is no memory.
  bool create(Mapping& mapping) noexcept;

  /// Id of `base`, or of `base.overload` where there is an overload.
  /// Thread: any. Cold: some tens of ns, on each thread's first use of a name.
  std::uint32_t intern(std::string_view base, std::string_view overload) noexcept;

  /// Text of an id; never empty. Valid as long as the mapping.
  std::string_view text(std::uint32_t id) const noexcept;

  /// What `text` reads.
  NameArena arena() const noexcept;

 private:
  using Slot = std::atomic<std::uint64_t>;  ///< hash << 32 | id, 0 = empty

  std::uint32_t append(std::string_view base, std::string_view overload,
                       std::uint32_t hash) noexcept;
  bool equals(std::uint32_t id, std::string_view base, std::string_view overload) const noexcept;

  Mapping* mapping_ = nullptr;
  Slot* slots_ = nullptr;
  std::atomic<std::uint32_t> used_{0};
};

}  // namespace torchtrace::core
