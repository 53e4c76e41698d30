#include "recovery/moments.h"

#include <algorithm>
#include <unordered_map>

namespace torchtrace::recovery {

namespace {

using core::Record;

std::uint64_t before(std::uint64_t earlier, std::uint64_t later) noexcept {
  return later > earlier ? later - earlier : 0;
}

OpenMoment describe(const Recovery& recovery, const core::OpenOpCopy& op) {
  OpenMoment moment;
  moment.name = recovery.copy().names().text(op.name_id);
  moment.start_ns = recovery.clock().to_ns(op.t0_ticks);
  moment.open_for_ns = before(moment.start_ns, recovery.last_sign_ns());
  moment.depth = op.depth;
  moment.is_user_scope = op.scope == static_cast<std::uint8_t>(core::Scope::kUserScope);
  return moment;
}

EndedMoment describe(const Recovery& recovery, const Record& record) {
  const std::uint64_t end_ns = recovery.clock().to_ns(record.t1_ticks);
  EndedMoment moment;
  moment.name = recovery.copy().names().text(record.name_id);
  moment.start_ns = recovery.clock().to_ns(record.t0_ticks);
  moment.dur_ns = before(moment.start_ns, end_ns);
  moment.ended_before_ns = before(end_ns, recovery.last_sign_ns());
  return moment;
}

/// The newest records of each thread that ended them, newest first.
std::unordered_map<std::uint32_t, std::vector<const Record*>> newest_records(
    const Recovery& recovery, std::size_t count) {
  std::unordered_map<std::uint32_t, std::vector<const Record*>> newest;
  for (const Record& record : recovery.evidence().records) {
    if ((record.flags & core::kFlagAbandoned) == 0) newest[record.end_slot].push_back(&record);
  }
  for (auto& [slot, records] : newest) {
    const std::size_t kept = std::min(count, records.size());
    std::partial_sort(
        records.begin(), records.begin() + static_cast<std::ptrdiff_t>(kept), records.end(),
        [](const Record* left, const Record* right) { return left->t1_ticks > right->t1_ticks; });
    records.resize(kept);
  }
  return newest;
}

}  // namespace

std::vector<ThreadMoments> describe_threads(const Recovery& recovery, std::size_t last) {
  auto newest = newest_records(recovery, last);
  std::vector<ThreadMoments> threads;
  for (const ThreadEvidence& evidence : recovery.evidence().threads) {
    ThreadMoments thread;
    thread.info = evidence.info;
    thread.has_ended = evidence.has_ended;
    thread.was_starting = evidence.was_starting;
    thread.started = evidence.started;
    for (const core::OpenOpCopy& op : evidence.open) thread.open.push_back(describe(recovery, op));
    for (const Record* record : newest[evidence.info.slot]) {
      thread.last.push_back(describe(recovery, *record));
    }
    threads.push_back(std::move(thread));
  }
  std::sort(threads.begin(), threads.end(),
            [](const ThreadMoments& left, const ThreadMoments& right) {
              return left.info.slot < right.info.slot;
            });
  return threads;
}

}  // namespace torchtrace::recovery
