#include "flush/ctf/disk_budget.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "flush/ctf/layout.h"

namespace torchtrace::flush {
namespace {

constexpr std::uint64_t kFirstFileBytes = std::uint64_t{1} << 20U;
constexpr std::uint64_t kFilesPerBudget = 16;
constexpr std::uint64_t kHeadroomPart = 8;

/// Less is not worth a file: one packet of events, one of state.
constexpr std::uint64_t kSmallestFileBytes = 4 * kCtfPacketBytes;

/// Kept for the final receipt, which is written whatever the budget (stream.h).
constexpr std::uint64_t kReserveBytes = kCtfPacketBytes;

/// Without a bound files still are cut, so that a reader can skip through them.
constexpr std::uint64_t kUnboundedFileBytes = std::uint64_t{128} << 20U;

std::uint64_t whole_packets(std::uint64_t bytes) noexcept {
  return bytes / kCtfPacketBytes * kCtfPacketBytes;
}

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

Directory open_directory(int parent, const char* name) noexcept {
  const int fd = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return nullptr;
  Directory directory(::fdopendir(fd));
  if (!directory) ::close(fd);
  return directory;
}

bool is_trace_file(const char* name) noexcept {
  return std::strcmp(name, kMetadataName) == 0 ||
         std::strncmp(name, kStreamPrefix, std::strlen(kStreamPrefix)) == 0;
}

std::uint64_t trace_size_bytes(int parent, const char* name) noexcept {
  const Directory trace = open_directory(parent, name);
  std::uint64_t sum = 0;
  if (!trace) return sum;
  while (const dirent* entry = ::readdir(trace.get())) {
    struct stat status {};
    if (!is_trace_file(entry->d_name)) continue;
    if (::fstatat(::dirfd(trace.get()), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISREG(status.st_mode)) sum += static_cast<std::uint64_t>(status.st_size);
  }
  return sum;
}

}  // namespace

std::uint64_t traces_size_bytes(const std::string& directory) noexcept {
  const Directory traces(::opendir(directory.c_str()));
  std::uint64_t sum = 0;
  if (!traces) return sum;
  while (const dirent* entry = ::readdir(traces.get())) {
    const bool may_be_folder = entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN;
    if (!may_be_folder || entry->d_name[0] == '.') continue;
    sum += trace_size_bytes(::dirfd(traces.get()), entry->d_name);
  }
  return sum;
}

DiskBudget::NextFile DiskBudget::plan(std::uint64_t directory_bytes,
                                      const std::vector<std::uint64_t>& closed_files_bytes,
                                      std::uint64_t written_bytes) const noexcept {
  if (max_bytes == 0) return {0, kUnboundedFileBytes};
  const std::uint64_t wanted =
      std::max(kSmallestFileBytes,
               std::min(max_bytes / kFilesPerBudget, std::max(kFirstFileBytes, written_bytes)));
  NextFile next;
  if (when_full == config::WhenFull::kRotate) {
    const std::uint64_t target = max_bytes - max_bytes / kHeadroomPart;
    for (const std::uint64_t bytes : closed_files_bytes) {
      if (directory_bytes + wanted + kReserveBytes <= target) break;
      directory_bytes -= std::min(directory_bytes, bytes);
      ++next.remove_oldest;
    }
  }
  const std::uint64_t taken = directory_bytes + kReserveBytes;
  const std::uint64_t room = taken < max_bytes ? max_bytes - taken : 0;
  next.limit_bytes = whole_packets(std::min(wanted, room));
  const bool useless =
      when_full == config::WhenFull::kRotate && next.limit_bytes < kSmallestFileBytes;
  return useless ? NextFile{} : next;
}

}  // namespace torchtrace::flush
