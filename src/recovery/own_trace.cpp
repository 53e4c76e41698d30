#include "recovery/own_trace.h"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "flush/ctf/disk_budget.h"
#include "flush/ctf/packet_reader.h"
#include "recovery/open_file.h"

namespace torchtrace::recovery {

namespace {

constexpr std::size_t kPacketsPerRead = 256;

}  // namespace

/// One overload per event of core/events.h.
struct OwnTrace::Handler {
  OwnTrace& trace;

  void seen(std::uint64_t ts) const { trace.last_ns_ = std::max(trace.last_ns_, ts); }
  void ended(std::uint64_t op_id) const {
    ++trace.written_;
    if (trace.asked_->count(op_id) != 0) trace.held_.insert(op_id);
  }

  void operator()(const torchtrace_process& event) const { seen(event.ts); }
  void operator()(const torchtrace_loss& event) const { seen(event.ts); }
  void operator()(const torchtrace_thread& event) const {
    seen(event.ts);
    trace.threads_.add({event.slot, event.tid, event.torch_thread, event.name});
  }
  void operator()(const torchtrace_op& event) const {
    seen(event.ts);
    ended(event.op_id);
  }
  void operator()(const torchtrace_op_begin& event) const {
    seen(event.ts);
    if (trace.closed_.count(event.op_id) != 0) return;
    trace.open_[event.op_id] = {event.ts,    event.parent, event.depth,
                                event.scope, event.flags,  event.name};
  }
  void operator()(const torchtrace_op_end& event) const {
    seen(event.ts);
    if (event.outcome == TORCHTRACE_OUTCOME_ENDED) ended(event.op_id);
    if (trace.open_.erase(event.op_id) == 0) trace.closed_.insert(event.op_id);
  }
  void operator()(const torchtrace_receipt& event) const {
    seen(event.ts);
    if (event.final != 0) trace.has_final_receipt_ = true;
  }
};

void OwnTrace::read(const std::string& folder, const std::unordered_set<std::uint64_t>& asked) {
  asked_ = &asked;
  std::error_code error;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().filename().string().rfind(flush::kStreamPrefix, 0) == 0) {
      files.push_back(entry.path().string());
    }
  }
  is_found_ = !error && !files.empty();
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) read_file(file);
  asked_ = nullptr;
}

void OwnTrace::read_file(const std::string& path) {
  const OpenFile file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  std::vector<std::byte> pages(kPacketsPerRead * flush::kCtfPacketBytes);
  const Handler handler{*this};
  for (std::uint64_t offset = 0;; offset += pages.size()) {
    const std::size_t length = file.read(offset, pages.data(), pages.size());
    const std::size_t packets = length / flush::kCtfPacketBytes;
    for (std::size_t packet = 0; packet < packets; ++packet) {
      if (!flush::read_ctf_packet(pages.data() + packet * flush::kCtfPacketBytes, handler)) {
        ++damaged_packets_;
      }
    }
    if (length < pages.size()) return;
  }
}

}  // namespace torchtrace::recovery
