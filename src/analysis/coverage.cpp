#include "analysis/coverage.h"

#include <algorithm>

namespace torchtrace::analysis {
namespace {

std::uint64_t length_within(std::uint64_t start, std::uint64_t end, std::uint64_t low,
                            std::uint64_t high) {
  const std::uint64_t from = std::max(start, low);
  const std::uint64_t to = std::min(end, high);
  return to > from ? to - from : 0;
}

}  // namespace

void CoveragePool::add(Coverage& set, std::uint64_t start, std::uint64_t end) {
  if (end <= start) {
    return;
  }
  std::uint32_t at = set.tail;
  while (at != kNone && intervals_[at].start > start) {
    at = intervals_[at].previous;
  }
  if (at != kNone && start <= intervals_[at].end) {
    intervals_[at].end = std::max(intervals_[at].end, end);
  } else {
    insert_after(set, at, start, end);
    at = at == kNone ? set.head : intervals_[at].next;
  }
  absorb_followers(set, at);
}

std::uint64_t CoveragePool::take_before(Coverage& set, std::uint64_t time, std::uint64_t limit) {
  std::uint64_t length = 0;
  while (!set.empty() && intervals_[set.head].end <= time) {
    const Interval first = pop_head(set);
    length += length_within(first.start, first.end, 0, limit);
  }
  return length;
}

std::uint64_t CoveragePool::take_within(Coverage& set, std::uint64_t start, std::uint64_t end) {
  std::uint64_t length = 0;
  while (!set.empty()) {
    const Interval first = pop_head(set);
    length += length_within(first.start, first.end, start, end);
  }
  return length;
}

void CoveragePool::move_all(Coverage& from, Coverage& to) {
  while (!from.empty()) {
    const Interval first = pop_head(from);
    add(to, first.start, first.end);
  }
}

CoveragePool::Interval CoveragePool::pop_head(Coverage& set) {
  const Interval first = intervals_[set.head];
  unlink(set, set.head);
  return first;
}

void CoveragePool::unlink(Coverage& set, std::uint32_t at) {
  const Interval& gone = intervals_[at];
  (gone.previous == kNone ? set.head : intervals_[gone.previous].next) = gone.next;
  (gone.next == kNone ? set.tail : intervals_[gone.next].previous) = gone.previous;
  free_.push_back(at);
}

void CoveragePool::insert_after(Coverage& set, std::uint32_t at, std::uint64_t start,
                                std::uint64_t end) {
  const std::uint32_t added = allocate();
  const std::uint32_t next = at == kNone ? set.head : intervals_[at].next;
  intervals_[added] = {start, end, at, next};
  (at == kNone ? set.head : intervals_[at].next) = added;
  (next == kNone ? set.tail : intervals_[next].previous) = added;
}

void CoveragePool::absorb_followers(Coverage& set, std::uint32_t at) {
  for (std::uint32_t next = intervals_[at].next;
       next != kNone && intervals_[next].start <= intervals_[at].end; next = intervals_[at].next) {
    intervals_[at].end = std::max(intervals_[at].end, intervals_[next].end);
    unlink(set, next);
  }
}

std::uint32_t CoveragePool::allocate() {
  if (free_.empty()) {
    intervals_.emplace_back();
    return static_cast<std::uint32_t>(intervals_.size() - 1);
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  return index;
}

}  // namespace torchtrace::analysis
