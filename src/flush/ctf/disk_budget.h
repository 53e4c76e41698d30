#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"

namespace torchtrace::flush {

/// Names of the files in a trace folder. The directory's size is the sum of these in all its trace
/// folders: what else somebody keeps there is not counted against the budget.
inline constexpr const char* kMetadataName = "metadata";
inline constexpr const char* kStreamPrefix = "stream-";
/// Hidden, so that readers skip it, and without a size: a page set aside (receipt_reserve.h).
inline constexpr const char* kReserveName = ".reserve";

/// Returns the bytes of all traces right below `directory`, whichever process wrote them.
/// Thread: any; reads the file system. Errors: what cannot be read counts as 0.
std::uint64_t traces_size_bytes(const std::string& directory) noexcept;

/// How much room a process may take for its next stream file, decided from the whole directory's
/// size.
///
/// Several processes share one budget and do not talk: each looks at the directory when it begins a
/// file. So that they overshoot little, a file is at most 1/16 of the budget and at most as large
/// as what its process has written so far (from 1 MiB on); with `rotate` each leaves 1/8 of the
/// budget free for processes that have just begun.
struct DiskBudget {
  std::uint64_t max_bytes = 0;  ///< For the whole directory; 0: no bound.
  config::WhenFull when_full = config::WhenFull::kRotate;

  struct NextFile {
    std::size_t remove_oldest = 0;  ///< Closed files of our own to remove first.
    std::uint64_t limit_bytes = 0;  ///< Whole packets; 0: there is no room.
  };

  /// `directory_bytes`: all there is now. `closed_files_bytes`: our own that are complete, oldest
  /// first. `written_bytes`: by this process so far, removed files too.
  NextFile plan(std::uint64_t directory_bytes, const std::vector<std::uint64_t>& closed_files_bytes,
                std::uint64_t written_bytes) const noexcept;
};

}  // namespace torchtrace::flush
