#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "flush/ctf/disk_budget.h"
#include "flush/ctf/stream_file.h"

namespace torchtrace::flush {

/// The files of one trace's stream, one after the other, held to the directory's budget: a full one
/// is followed by a new one, for which the oldest are removed where the budget asks for it. Keeps
/// count of the operators in each.
///
/// Thread: one. Errors: errno values, or `kNoBudget`; nothing throws but the constructor.
class StreamFiles {
 public:
  /// Instead of an errno value: the directory has reached its budget.
  static constexpr int kNoBudget = -1;

  /// `folder`: the trace, which exists, below `directory`, whose size the budget bounds.
  StreamFiles(std::string directory, std::string folder, DiskBudget budget)
      : directory_(std::move(directory)), folder_(std::move(folder)), budget_(budget) {}

  /// Begins the next file, removing old ones first. Returns 0, errno or `kNoBudget`.
  int begin_next() noexcept;

  struct Appended {
    std::size_t packets = 0;  ///< In files now, from the first on.
    int error = 0;            ///< Why it is not all of them.
  };

  /// Appends `count` packets, `operators[i]` being the operators in the i-th; begins new files as
  /// needed.
  Appended append(const std::byte* packets, const std::uint32_t* operators,
                  std::size_t count) noexcept;

  /// Appends one packet to the current file whatever its size. Returns 0 or errno.
  int append_last(const std::byte* packet) noexcept;

  /// Lets the next packet begin a new file.
  void end_file() noexcept { end_requested_ = true; }
  bool end_requested() const noexcept { return end_requested_; }

  /// True if little room is left in the current file, so that a good moment should be used to end
  /// it.
  bool nearly_full() const noexcept;

  /// Files begun so far.
  std::uint64_t begun() const noexcept { return begun_; }
  /// Operators in the files that exist.
  std::uint64_t operators() const noexcept { return operators_; }
  /// Operators that were in files removed since.
  std::uint64_t operators_removed() const noexcept { return operators_removed_; }
  std::uint64_t packets() const noexcept { return packets_; }
  /// Packets in the current file.
  std::uint64_t current_packets() const noexcept {
    return current_.size_bytes() / StreamFile::kPageBytes;
  }
  const std::string& current_path() const noexcept { return current_.path(); }

  void close() noexcept { current_.close(); }

 private:
  struct ClosedFile {
    std::string path;
    std::uint64_t size_bytes;
    std::uint64_t operators;
  };

  int begin_next_or_throw();
  void retire_current();
  int remove_oldest(std::size_t count);
  void count_appended(const std::uint32_t* operators, std::size_t packets) noexcept;
  bool current_is_full() const noexcept;

  std::string directory_;
  std::string folder_;
  DiskBudget budget_;
  StreamFile current_;
  std::uint64_t current_operators_ = 0;
  std::uint64_t limit_bytes_ = 0;
  bool has_current_ = false;
  bool end_requested_ = false;
  std::vector<ClosedFile> closed_;
  std::uint64_t begun_ = 0;
  std::uint64_t packets_ = 0;
  std::uint64_t operators_ = 0;
  std::uint64_t operators_removed_ = 0;
};

}  // namespace torchtrace::flush
