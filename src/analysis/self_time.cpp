#include "analysis/self_time.h"

#include <algorithm>

namespace torchtrace::analysis {
namespace {

constexpr std::uint32_t kNone = OpTable::kNone;

std::uint64_t earliest(const std::vector<std::uint64_t>& times) {
  return times.empty() ? UINT64_MAX : *std::min_element(times.begin(), times.end());
}

void erase_one(std::vector<std::uint64_t>& times, std::uint64_t time) {
  const auto found = std::find(times.begin(), times.end(), time);
  if (found != times.end()) {
    times.erase(found);
  }
}

}  // namespace

void SelfTimeTracker::raise_grace_ns(std::uint64_t grace_ns) {
  grace_ns_ = std::max(grace_ns_, grace_ns);
}

/// The entry of an operator that is seen for the first time; it may have been expected as a parent.
/// kNone: it is a repetition.
std::uint32_t SelfTimeTracker::take(const TrackedOp& op) {
  pass(op.start_ns);
  std::uint32_t index = table_.find(op.op_id);
  if (index == kNone) {
    index = create(op);
  } else if (entries_[index].state != State::kUnknown) {
    return kNone;
  }
  entries_[index].op = op;
  return index;
}

bool SelfTimeTracker::add(const TrackedOp& op) {
  const std::uint32_t index = take(op);
  if (index == kNone) return false;
  entries_[index].state = State::kEnded;
  cover(find_or_expect_parent(op.parent), op.start_ns, op.end_ns);
  ended_.push_back({index, watermark_ns_});
  return true;
}

bool SelfTimeTracker::begin(const TrackedOp& op) {
  const std::uint32_t index = take(op);
  if (index == kNone) return false;
  entries_[index].op.end_ns = kOpenEnd;
  entries_[index].state = State::kOpen;
  const std::uint32_t parent = find_or_expect_parent(op.parent);
  if (parent != kNone) {
    entries_[parent].open_children.push_back(op.start_ns);
  }
  return true;
}

bool SelfTimeTracker::end(const TrackedOp& op, bool recorded) {
  pass(op.end_ns);
  std::uint32_t index = table_.find(op.op_id);
  if (index == kNone) {
    index = create(op);
  }
  const State state = entries_[index].state;
  if (state != State::kUnknown && state != State::kOpen) {
    return false;
  }
  const std::uint32_t parent = find_parent(op.parent);
  if (state == State::kOpen && parent != kNone) {
    erase_one(entries_[parent].open_children, entries_[index].op.start_ns);
  }
  entries_[index].op = op;
  entries_[index].state = recorded ? State::kEnded : State::kLeftOut;
  if (recorded) {
    cover(parent, op.start_ns, op.end_ns);
  } else {
    leave_out(entries_[index]);
  }
  ended_.push_back({index, watermark_ns_});
  return true;
}

void SelfTimeTracker::finish() {
  while (!ended_.empty()) {
    finalise(ended_.front().index);
    ended_.pop_front();
  }
  while (!unknown_.empty()) {
    forget_unknown();
  }
}

std::vector<TrackedOp> SelfTimeTracker::open_ops() const {
  std::vector<TrackedOp> ops;
  for (const Entry& entry : entries_) {
    if (entry.state == State::kOpen) {
      ops.push_back(entry.op);
    }
  }
  std::sort(ops.begin(), ops.end(), [](const TrackedOp& a, const TrackedOp& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.op_id < b.op_id;
  });
  return ops;
}

std::uint32_t SelfTimeTracker::create(const TrackedOp& op) {
  std::uint32_t index = 0;
  if (free_.empty()) {
    index = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  entries_[index].op = op;
  table_.insert(op.op_id, index);
  return index;
}

/// The operator of that id, or what stands for it where it was left out.
std::uint32_t SelfTimeTracker::find_parent(std::uint64_t op_id) const {
  while (op_id != 0) {
    const std::uint32_t index = table_.find(op_id);
    if (index == kNone || entries_[index].state != State::kLeftOut) {
      return index;
    }
    op_id = entries_[index].op.parent;
  }
  return kNone;
}

/// The same; where it has not been seen yet, makes an entry for it.
std::uint32_t SelfTimeTracker::find_or_expect_parent(std::uint64_t op_id) {
  const std::uint32_t index = find_parent(op_id);
  if (index != kNone || op_id == 0 || table_.find(op_id) != kNone) {
    return index;
  }
  if (unknown_.size() >= kMaxUnknown) {
    forget_unknown();
  }
  unknown_.push_back(op_id);
  TrackedOp expected;
  expected.op_id = op_id;
  expected.end_ns = kOpenEnd;
  return create(expected);
}

void SelfTimeTracker::cover(std::uint32_t parent, std::uint64_t start_ns, std::uint64_t end_ns) {
  if (parent == kNone) {
    return;
  }
  Entry& entry = entries_[parent];
  pool_.add(entry.recent, start_ns, end_ns);  // Clipped once the parent is final.
  if (entry.state != State::kEnded && watermark_ns_ > grace_ns_) {
    // What lies beyond the start of a child that is still open is covered by that child.
    entry.covered_ns +=
        pool_.take_before(entry.recent, watermark_ns_ - grace_ns_, earliest(entry.open_children));
  }
}

void SelfTimeTracker::leave_out(Entry& entry) {
  const std::uint32_t parent = find_parent(entry.op.parent);
  if (parent != kNone) {
    Entry& around = entries_[parent];
    around.covered_ns += entry.covered_ns;
    pool_.move_all(entry.recent, around.recent);
    around.open_children.insert(around.open_children.end(), entry.open_children.begin(),
                                entry.open_children.end());
  }
  entry.open_children.clear();
}

void SelfTimeTracker::pass(std::uint64_t time_ns) {
  watermark_ns_ = std::max(watermark_ns_, time_ns);
  expire();
}

void SelfTimeTracker::expire() {
  while (!ended_.empty()) {
    const Queued first = ended_.front();
    const bool passed = entries_[first.index].op.end_ns + grace_ns_ <= watermark_ns_;
    if (!passed && first.watermark_ns + 2 * grace_ns_ > watermark_ns_) {
      return;
    }
    ended_.pop_front();
    if (passed) {
      finalise(first.index);
    } else {
      // A long one must not hold up those behind it: its turn comes again.
      ended_.push_back({first.index, watermark_ns_});
    }
  }
}

void SelfTimeTracker::finalise(std::uint32_t index) {
  Entry& entry = entries_[index];
  const TrackedOp& op = entry.op;
  if (!entry.open_children.empty()) {
    pool_.add(entry.recent, std::max(earliest(entry.open_children), op.start_ns), op.end_ns);
  }
  const std::uint64_t covered_ns =
      entry.covered_ns + pool_.take_within(entry.recent, op.start_ns, op.end_ns);
  if (entry.state == State::kEnded) {
    const std::uint64_t duration_ns = op.end_ns - op.start_ns;
    listener_.on_self_time(op, duration_ns - std::min(covered_ns, duration_ns));
  }
  remove(index);
}

void SelfTimeTracker::forget_unknown() {
  const std::uint32_t index = table_.find(unknown_.front());
  unknown_.pop_front();
  if (index != kNone && entries_[index].state == State::kUnknown) {
    ++missing_parents_;
    pool_.take_within(entries_[index].recent, 0, 0);
    remove(index);
  }
}

void SelfTimeTracker::remove(std::uint32_t index) {
  Entry& entry = entries_[index];
  table_.erase(entry.op.op_id);
  entry.covered_ns = 0;
  entry.open_children.clear();
  entry.state = State::kUnknown;
  free_.push_back(index);
}

}  // namespace torchtrace::analysis
