#include "flush/ctf/stream_files.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <numeric>

#include "flush/ctf/layout.h"

namespace torchtrace::flush {

static_assert(StreamFile::kPageBytes == kCtfPacketBytes, "packets are appended as pages");

int StreamFiles::begin_next() noexcept {
  try {
    return begin_next_or_throw();
  } catch (...) {
    return ENOMEM;
  }
}

int StreamFiles::begin_next_or_throw() {
  retire_current();
  std::vector<std::uint64_t> closed_bytes;
  closed_bytes.reserve(closed_.size());
  for (const ClosedFile& file : closed_) closed_bytes.push_back(file.size_bytes);
  const DiskBudget::NextFile next =
      budget_.plan(traces_size_bytes(directory_), closed_bytes, packets_ * kCtfPacketBytes);
  if (next.limit_bytes == 0) return kNoBudget;
  int error = remove_oldest(next.remove_oldest);
  if (error != 0) return error;
  char number[32];
  std::snprintf(number, sizeof number, "%06llu", static_cast<unsigned long long>(begun_));
  error = current_.create(folder_ + "/" + kStreamPrefix + number);
  if (error != 0) return error;
  has_current_ = true;
  limit_bytes_ = next.limit_bytes;
  ++begun_;
  return 0;
}

void StreamFiles::retire_current() {
  end_requested_ = false;
  if (!has_current_) return;
  current_.close();
  closed_.push_back({current_.path(), current_.size_bytes(), current_operators_});
  current_operators_ = 0;
  has_current_ = false;
}

int StreamFiles::remove_oldest(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const ClosedFile& oldest = closed_.front();
    // One that somebody else has removed is gone all the same.
    if (::unlink(oldest.path.c_str()) != 0 && errno != ENOENT) return errno;
    operators_ -= oldest.operators;
    operators_removed_ += oldest.operators;
    closed_.erase(closed_.begin());
  }
  return 0;
}

bool StreamFiles::current_is_full() const noexcept {
  return !has_current_ || end_requested_ || current_.size_bytes() >= limit_bytes_;
}

bool StreamFiles::nearly_full() const noexcept {
  constexpr std::uint64_t kLastPart = 8;
  return has_current_ && !end_requested_ &&
         current_.size_bytes() >= limit_bytes_ - limit_bytes_ / kLastPart;
}

StreamFiles::Appended StreamFiles::append(const std::byte* packets, const std::uint32_t* operators,
                                          std::size_t count) noexcept {
  Appended result;
  while (result.packets < count && result.error == 0) {
    if (current_is_full()) result.error = begin_next();
    if (result.error != 0) break;
    const std::size_t room = (limit_bytes_ - current_.size_bytes()) / kCtfPacketBytes;
    const StreamFile::Appended part = current_.append(packets + result.packets * kCtfPacketBytes,
                                                      std::min(room, count - result.packets));
    count_appended(operators + result.packets, part.pages);
    result.packets += part.pages;
    result.error = part.error;
  }
  return result;
}

void StreamFiles::count_appended(const std::uint32_t* operators, std::size_t packets) noexcept {
  const std::uint64_t sum = std::accumulate(operators, operators + packets, std::uint64_t{0});
  current_operators_ += sum;
  operators_ += sum;
  packets_ += packets;
}

int StreamFiles::append_last(const std::byte* packet) noexcept {
  if (!has_current_) return ENOENT;
  const StreamFile::Appended appended = current_.append(packet, 1);
  packets_ += appended.pages;
  return appended.error;
}

}  // namespace torchtrace::flush
