#pragma once

#include <cstdint>
#include <vector>

namespace torchtrace::analysis {

/// A set of disjoint intervals, as a list in a CoveragePool; sorted.
struct Coverage {
  std::uint32_t head = UINT32_MAX;
  std::uint32_t tail = UINT32_MAX;

  bool empty() const noexcept { return head == UINT32_MAX; }
};

/// Storage of many small sets of intervals [start, end) in ns. Adding at the end, which is nearly
/// always the case, takes constant time; nothing is allocated once the pool has reached its size.
class CoveragePool {
 public:
  /// Adds [start, end) to the set: their union.
  void add(Coverage& set, std::uint64_t start, std::uint64_t end);

  /// Removes the intervals that end at or before `time`, and returns the length of what they cover
  /// before `limit`.
  std::uint64_t take_before(Coverage& set, std::uint64_t time, std::uint64_t limit);

  /// Removes everything, and returns the length of what it covers within [start, end).
  std::uint64_t take_within(Coverage& set, std::uint64_t start, std::uint64_t end);

  /// Moves all intervals of `from` into `to`.
  void move_all(Coverage& from, Coverage& to);

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Interval {
    std::uint64_t start;
    std::uint64_t end;
    std::uint32_t previous;
    std::uint32_t next;
  };

  Interval pop_head(Coverage& set);
  void unlink(Coverage& set, std::uint32_t at);
  void insert_after(Coverage& set, std::uint32_t at, std::uint64_t start, std::uint64_t end);
  void absorb_followers(Coverage& set, std::uint32_t at);
  std::uint32_t allocate();

  std::vector<Interval> intervals_;
  std::vector<std::uint32_t> free_;
};

}  // namespace torchtrace::analysis
