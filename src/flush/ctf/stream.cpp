#include "flush/ctf/stream.h"

#include <algorithm>
#include <cerrno>

#include "flush/ctf/trace_folder.h"

namespace torchtrace::flush {

CtfStream::CtfStream(const CtfSinkOptions& options, const std::string& folder, const CtfUuid& uuid)
    : options_(options),
      uuid_(uuid),
      files_(options.output_directory, folder, {options.max_bytes, options.when_full}) {
  reserve_.prepare(folder);
}

bool CtfStream::open(std::string& error) {
  const int result = batch_.allocate() ? files_.begin_next() : ENOMEM;
  if (result != 0) error = reason(result);
  return result == 0;
}

template <typename Event>
void CtfStream::append(const Event& event, bool is_operator) noexcept {
  std::uint64_t header_ts_ns = header_timestamp_ns(event.ts);
  if (!stopped_ && !batch_.append(event, header_ts_ns, is_operator)) {
    complete_packet();
    header_ts_ns = header_timestamp_ns(event.ts);
    if (!stopped_) batch_.append(event, header_ts_ns, is_operator);
  }
  if (stopped_) {
    ++lost_.events;
    lost_.operators += is_operator ? 1 : 0;
    return;
  }
  last_ts_ns_ = header_ts_ns;
}

std::uint64_t CtfStream::header_timestamp_ns(std::uint64_t ts_ns) const noexcept {
  return ts_ns > kCtfMaxTimestampNs ? last_ts_ns_ : std::max(ts_ns, last_ts_ns_);
}

#define TORCHTRACE_CTF_INSTANTIATE(NAME, name) \
  template void CtfStream::append(const torchtrace_##name&, bool) noexcept;
TORCHTRACE_EVENTS(TORCHTRACE_CTF_INSTANTIATE)
#undef TORCHTRACE_CTF_INSTANTIATE

/// The next packet begins later than this one ends: where a stream has several files, babeltrace2
/// exchanges packets that begin at one moment, and then stops at the first of them. Source:
/// src/plugins/ctf/fs-src/fs.cpp, ds_index_insert_ds_index_entry_sorted.
void CtfStream::complete_packet() noexcept {
  batch_.complete_open(uuid_, next_sequence_number_++, lost_.events);
  ++last_ts_ns_;
  open_since_ns_ = 0;
  if (batch_.full() || ends_block()) write_out();
}

/// Writes end where a block of `PacketBatch::kCapacity` packets of the file does: the kernel then
/// takes larger pages for the next, which halves its work.
bool CtfStream::ends_block() const noexcept {
  return (files_.current_packets() + batch_.complete()) % PacketBatch::kCapacity == 0;
}

void CtfStream::write_out() noexcept {
  const StreamFiles::Appended appended =
      files_.append(batch_.packets(), batch_.operators(), batch_.complete());
  if (appended.error != 0) {
    const PacketBatch::Tally lost = batch_.tally_from(appended.packets);
    lost_.events += lost.events;
    lost_.operators += lost.operators;
    stop(appended.error);
  }
  batch_.clear_complete();
}

void CtfStream::write_out_all() noexcept {
  if (!batch_.open_is_empty()) complete_packet();
  if (!stopped_) write_out();
}

void CtfStream::stop(int error) noexcept {
  stopped_ = true;
  if (options_.say == nullptr) return;
  try {
    options_.say((reason(error) + ": operators are only counted from here on").c_str());
  } catch (...) {
    options_.say("the trace ends: operators are only counted from here on");
  }
}

std::string CtfStream::reason(int error) const {
  if (error == StreamFiles::kNoBudget) {
    return "the traces in " + options_.output_directory + " have reached output.max_bytes (" +
           std::to_string(options_.max_bytes) + " bytes)";
  }
  return "cannot write " + files_.current_path() + ": " + error_text(error);
}

void CtfStream::append_final(torchtrace_receipt receipt) noexcept {
  const Sink::Counts before = counts();
  if (!stopped_) write_out_all();
  const Sink::Counts after = counts();
  receipt.written -= before.written - after.written;
  receipt.lost_disk_full += after.lost_disk_full - before.lost_disk_full;
  receipt.lost_rotated_out += after.lost_rotated_out - before.lost_rotated_out;
  last_ts_ns_ = header_timestamp_ns(receipt.ts);
  if (!append_to_last_file(receipt)) {
    reserve_.write(receipt, last_ts_ns_, uuid_, files_.packets(), lost_.events);
  }
}

bool CtfStream::append_to_last_file(const torchtrace_receipt& receipt) noexcept {
  if (stopped_) return false;
  batch_.append(receipt, last_ts_ns_, false);
  batch_.complete_open(uuid_, next_sequence_number_++, lost_.events);
  const int error = files_.append_last(batch_.packets());
  batch_.clear_complete();
  if (error != 0) stop(error);
  return error == 0;
}

void CtfStream::end_of_period(std::uint64_t now_ns) noexcept {
  if (stopped_) return;
  if (!batch_.open_is_empty()) {
    if (open_since_ns_ == 0) open_since_ns_ = now_ns;
    if (now_ns - open_since_ns_ >= kMaxPacketAgeNs) complete_packet();
  }
  if (!stopped_) write_out();
  if (stopped_ || !files_.nearly_full()) return;
  // Here, and not when the file is full, so that the next one begins with the state that is asked
  // for. What was still in memory may have filled it.
  const std::uint64_t begun = files_.begun();
  write_out_all();
  if (files_.begun() == begun) files_.end_file();
}

bool CtfStream::take_state_request() noexcept {
  const std::uint64_t next_file = files_.begun() + (files_.end_requested() ? 1 : 0);
  if (stopped_ || next_file == state_given_for_) return false;
  state_given_for_ = next_file;
  return true;
}

Sink::Counts CtfStream::counts() const noexcept {
  Sink::Counts result;
  const std::uint64_t in_memory = stopped_ ? 0 : batch_.tally_from(0).operators;
  result.written = files_.operators() + in_memory;
  result.lost_disk_full = lost_.operators;
  result.lost_rotated_out = files_.operators_removed();
  return result;
}

void CtfStream::close() noexcept {
  if (!stopped_ && batch_.packets() != nullptr) write_out_all();
  files_.close();
  reserve_.discard();
}

}  // namespace torchtrace::flush
