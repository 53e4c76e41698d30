#include "recovery/evidence.h"

#include <algorithm>

#include "recovery/ring_copy.h"

namespace torchtrace::recovery {

namespace {

using core::OpenOpCopy;
using core::OpId;
using core::Record;
using core::ThreadHeader;

/// The operator of the top frame was counted as dropped just before it would have been taken off.
bool was_dropped(const OpenOpCopy& op, const ThreadHeader& header) noexcept {
  return op.scope_entry == 0 && OpId::slot(op.op_id) == header.slot &&
         OpId::count(op.op_id) == header.last_loss.load(std::memory_order_relaxed);
}

/// True if the last start of the thread was counted as lost at once, or may have been filtered:
/// that leaves no trace of which operator it was.
bool lost_last(const ThreadHeader& header) noexcept {
  return header.filtered.load(std::memory_order_relaxed) != 0 ||
         header.started() == header.last_loss.load(std::memory_order_relaxed);
}

ThreadEvidence look_at(const core::ThreadBuffer& buffer) {
  const ThreadHeader& header = buffer.header;
  ThreadEvidence thread;
  thread.info = flush::thread_info(header);
  thread.has_ended = header.state.load(std::memory_order_relaxed) != core::kBufferActive;
  thread.started = header.started();
  if (!flush::is_occupied(header)) return thread;
  thread.last_op_id = lost_last(header) ? 0 : header.last_op_id.load(std::memory_order_relaxed);
  const auto take = [&](const OpenOpCopy& op) {
    if (!was_dropped(op, header)) thread.open.push_back(op);
  };
  flush::for_each_open_frame(buffer, take);
  flush::for_each_open_scope(buffer, take);
  std::sort(
      thread.open.begin(), thread.open.end(),
      [](const OpenOpCopy& left, const OpenOpCopy& right) { return left.op_id < right.op_id; });
  return thread;
}

void add_ended(flush::Totals& totals, const core::EndedThreads& ended) noexcept {
  totals.started += ended.started;
  totals.filtered += ended.filtered;
  totals.dropped_ring_full += ended.dropped_ring_full;
  totals.dropped_too_deep += ended.dropped_too_deep;
  totals.dropped_no_scope += ended.dropped_no_scope;
  totals.dropped_abandoned += ended.dropped_abandoned;
  totals.dropped_block_timeout += ended.dropped_block_timeout;
  totals.dropped_overwritten += ended.dropped_overwritten;
}

flush::Totals add_up(const ProcessCopy& copy) {
  flush::Totals totals;
  const core::EndedThreads& ended = copy.header().ended.whole();
  add_ended(totals, ended);
  for (const ThreadCopy& thread : copy.threads()) {
    const ThreadHeader& header = thread.buffer->header;
    const bool is_added = header.slot == ended.last_slot;
    if (!flush::is_occupied(header) || is_added) continue;
    flush::add_counters(totals, header);
    totals.dropped_overwritten += uncounted_overwritten(header, copy.header().slots_per_buffer);
  }
  totals.started += copy.header().unbuffered_started.load(std::memory_order_relaxed);
  totals.dropped_no_buffer = copy.header().dropped_no_buffer.load(std::memory_order_relaxed);
  return totals;
}

}  // namespace

Evidence gather(const ProcessCopy& copy) {
  Evidence evidence;
  std::unordered_set<std::uint64_t> known;
  const std::uint32_t given_back = copy.header().ended.whole().last_slot;
  for (const ThreadCopy& thread : copy.threads()) {
    evidence.threads.push_back(look_at(*thread.buffer));
    if (thread.buffer->header.slot == given_back) {
      // Counted with those that have ended; what it left open was counted as abandoned.
      evidence.threads.back().open.clear();
      evidence.threads.back().last_op_id = 0;
    }
    for (const Record& record : thread.records) {
      if (known.insert(record.op_id).second) evidence.records.push_back(record);
    }
  }
  evidence.totals = add_up(copy);
  return evidence;
}

std::unordered_set<std::uint64_t> Evidence::op_ids() const {
  std::unordered_set<std::uint64_t> ids;
  for (const Record& record : records) ids.insert(record.op_id);
  for (const ThreadEvidence& thread : threads) {
    for (const OpenOpCopy& op : thread.open) ids.insert(op.op_id);
    ids.insert(thread.last_op_id);
  }
  return ids;
}

void Evidence::settle(const OwnTrace& own) {
  std::unordered_set<std::uint64_t> ended;
  for (const Record& record : records) ended.insert(record.op_id);
  const auto has_ended = [&](std::uint64_t op_id) {
    return ended.count(op_id) != 0 || own.holds(op_id);
  };
  totals.open = 0;
  for (ThreadEvidence& thread : threads) {
    const auto is_last = [&](const OpenOpCopy& op) { return op.op_id == thread.last_op_id; };
    thread.was_starting = OpId::count(thread.last_op_id) != 0 && !has_ended(thread.last_op_id) &&
                          std::none_of(thread.open.begin(), thread.open.end(), is_last);
    thread.open.erase(std::remove_if(thread.open.begin(), thread.open.end(),
                                     [&](const OpenOpCopy& op) { return has_ended(op.op_id); }),
                      thread.open.end());
    totals.open += thread.open.size() + (thread.was_starting ? 1 : 0);
  }
}

}  // namespace torchtrace::recovery
