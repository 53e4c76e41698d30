#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "analysis/coverage.h"
#include "analysis/op_table.h"

namespace torchtrace::analysis {

/// One call of an operator. Times are CLOCK_MONOTONIC ns.
struct TrackedOp {
  std::uint64_t op_id = 0;
  std::uint64_t parent = 0;  ///< op_id of the nearest recorded operator around it, 0: none.
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;  ///< Ignored where the operator is still open.
  std::uint32_t name = 0;    ///< The caller's number of its name.
  std::uint32_t slot = 0;    ///< The thread that started it.
};

/// Computes the self time of each operator of one process in one pass over its events: its duration
/// less what its children cover of it. Children are clipped to their parent, since an asynchronous
/// or detached scope may outlive it, and what several of them cover at once counts once; so a self
/// time is never negative.
///
/// Operators arrive sorted by start (ends by end), and a parent before its children. So an operator
/// is final once the stream has passed its end, and memory is bounded by the number of operators
/// that start within the grace time, besides those that are open. The grace time is for late
/// events: one that comes later than that still counts, but covers nothing of its parent.
class SelfTimeTracker {
 public:
  class Listener {
   public:
    Listener() = default;
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    virtual ~Listener() = default;
    /// `op` is final.
    virtual void on_self_time(const TrackedOp& op, std::uint64_t self_ns) = 0;
  };

  /// `listener` must outlive the tracker.
  explicit SelfTimeTracker(Listener& listener, std::uint64_t grace_ns = kInitialGraceNs)
      : listener_(listener), grace_ns_(grace_ns) {}

  /// How long operators are kept after the stream has passed their end. Only ever grows.
  void raise_grace_ns(std::uint64_t grace_ns);

  /// Each returns whether the event says something new: false for a repetition of what is known.
  /// @{
  bool add(const TrackedOp& op);    ///< An operator that has ended.
  bool begin(const TrackedOp& op);  ///< One that is still open.
  /// The end of one that was open. Where it is not `recorded`, it counts as a part of the operator
  /// around it, and its children as that one's. (Exact, unless an asynchronous sibling ran at the
  /// same time: what both cover is then counted twice, and the self time around them too short.)
  bool end(const TrackedOp& op, bool recorded);
  /// @}

  /// No further event follows: all that have ended are final.
  void finish();

  /// Operators that began and have not ended.
  std::vector<TrackedOp> open_ops() const;

  /// op_ids that children named as their parent and that never came: dropped, discarded, or from
  /// before the trace began. What is around them has their children's time in its self time.
  /// Complete after `finish`.
  std::uint64_t missing_parents() const noexcept { return missing_parents_; }

  /// Operators in memory.
  std::size_t held() const noexcept { return table_.size(); }

 private:
  static constexpr std::uint64_t kOpenEnd = UINT64_MAX;
  static constexpr std::uint64_t kInitialGraceNs = 100'000'000;
  static constexpr std::size_t kMaxUnknown = 65536;

  enum class State : std::uint8_t {
    kUnknown,  ///< Named by a child as its parent; not seen itself.
    kOpen,
    kEnded,
    kLeftOut  ///< Ended, not recorded: its parent takes its place.
  };

  struct Entry {
    TrackedOp op;
    std::uint64_t covered_ns = 0;              ///< By children that the stream has long passed.
    Coverage recent;                           ///< By the others.
    std::vector<std::uint64_t> open_children;  ///< Their starts.
    State state = State::kUnknown;
  };

  struct Queued {
    std::uint32_t index;
    std::uint64_t watermark_ns;  ///< When it was put here.
  };

  std::uint32_t take(const TrackedOp& op);
  std::uint32_t create(const TrackedOp& op);
  std::uint32_t find_parent(std::uint64_t op_id) const;
  std::uint32_t find_or_expect_parent(std::uint64_t op_id);
  void cover(std::uint32_t parent, std::uint64_t start_ns, std::uint64_t end_ns);
  void leave_out(Entry& entry);
  void pass(std::uint64_t time_ns);
  void expire();
  void finalise(std::uint32_t index);
  void forget_unknown();
  void remove(std::uint32_t index);

  Listener& listener_;
  std::uint64_t watermark_ns_ = 0;
  std::uint64_t grace_ns_;
  std::uint64_t missing_parents_ = 0;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
  OpTable table_;
  CoveragePool pool_;
  std::deque<Queued> ended_;           ///< In the order of their ends' arrival.
  std::deque<std::uint64_t> unknown_;  ///< op_ids that were unknown when put here.
};

}  // namespace torchtrace::analysis
