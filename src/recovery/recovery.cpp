#include "recovery/recovery.h"

#include <algorithm>

#include "recovery/clock.h"

namespace torchtrace::recovery {

namespace {

flush::ProcessInfo read_info(const core::ProcessHeader& header) {
  const core::ProcessFacts& facts = header.facts;
  const auto text = [](const char* value) {
    return *value == '\0' ? std::string("unknown") : std::string(value);
  };
  flush::ProcessInfo info;
  info.pid = header.pid;
  info.start_time = header.start_time;
  info.rank = facts.rank;
  info.world_size = facts.world_size;
  info.host = text(facts.host);
  info.command = text(facts.command);
  info.torch_version = text(facts.torch_version);
  info.torch_path = text(facts.torch_path);
  info.torch_layout = text(facts.torch_layout);
  info.agent_version = text(facts.agent_version);
  info.config_digest = text(facts.config_digest);
  return info;
}

}  // namespace

Recovery::Recovery(const MappingFile& mapping)
    : state_(mapping.state),
      copy_(mapping),
      clock_(make_clock(copy_.header())),
      info_(read_info(copy_.header())),
      evidence_(gather(copy_)) {
  const std::string folder = own_trace_folder();
  if (!folder.empty()) own_.read(folder, evidence_.op_ids());
  evidence_.settle(own_);
  last_sign_ns_ =
      state_ == core::MappingState::kDead ? find_last_sign() : core::clock_ns(CLOCK_MONOTONIC);
}

std::string Recovery::own_trace_folder() const {
  const core::ProcessFacts& facts = copy_.header().facts;
  // A name with a slash would lead out of the directory.
  if (*facts.trace_name == '\0' || std::string(facts.trace_name).find('/') != std::string::npos) {
    return {};
  }
  return output_directory() + "/" + facts.trace_name;
}

bool Recovery::is_new(const core::Record& record) const noexcept {
  if ((record.flags & core::kFlagAbandoned) != 0) return false;  // counted by its thread
  if (can_look_up()) return !own_.holds(record.op_id);
  const core::FlushProgress& progress = copy_.header().progress;
  return record.t0_ticks > progress.watermark_ticks.load(std::memory_order_relaxed);
}

bool Recovery::can_look_up() const noexcept {
  return own_.is_found() || copy_.header().progress.written.load(std::memory_order_relaxed) == 0;
}

std::uint64_t Recovery::find_last_sign() const noexcept {
  std::uint64_t ticks = copy_.header().progress.now_ticks.load(std::memory_order_relaxed);
  ticks = std::max(ticks, last_anchor(copy_.header()).ticks);
  for (const core::Record& record : evidence_.records) ticks = std::max(ticks, record.t1_ticks);
  for (const ThreadEvidence& thread : evidence_.threads) {
    for (const core::OpenOpCopy& op : thread.open) ticks = std::max(ticks, op.t0_ticks);
  }
  return std::max(clock_.to_ns(ticks), own_.last_ns());
}

}  // namespace torchtrace::recovery
