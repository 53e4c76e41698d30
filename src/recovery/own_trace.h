#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "flush/thread_buffers.h"

namespace torchtrace::recovery {

/// What a killed program itself has written, read back from the files of its CTF trace: only they
/// tell exactly. Of 10 GB some ten seconds; memory for the operators asked for, and those open.
class OwnTrace {
 public:
  /// An operator that was announced and not closed.
  struct Begin {
    std::uint64_t start_ns;
    std::uint64_t parent;
    std::uint16_t depth;
    std::uint8_t scope;
    std::uint8_t flags;
    std::string name;
  };

  /// Reads all files of the trace in `folder`, which may be gone. `asked` are the op_ids that
  /// `holds` will be asked for.
  void read(const std::string& folder, const std::unordered_set<std::uint64_t>& asked);

  bool is_found() const noexcept { return is_found_; }
  std::uint64_t written() const noexcept { return written_; }
  bool holds(std::uint64_t op_id) const noexcept { return held_.count(op_id) != 0; }
  const std::unordered_map<std::uint64_t, Begin>& open() const noexcept { return open_; }
  const flush::ThreadDirectory& threads() const noexcept { return threads_; }
  std::uint64_t last_ns() const noexcept { return last_ns_; }
  bool has_final_receipt() const noexcept { return has_final_receipt_; }
  std::uint64_t damaged_packets() const noexcept { return damaged_packets_; }

 private:
  struct Handler;
  void read_file(const std::string& path);

  const std::unordered_set<std::uint64_t>* asked_ = nullptr;
  std::unordered_set<std::uint64_t> held_;
  std::unordered_map<std::uint64_t, Begin> open_;
  std::unordered_set<std::uint64_t> closed_;  ///< Ends whose begin is in a file not yet read.
  flush::ThreadDirectory threads_;
  std::uint64_t written_ = 0;
  std::uint64_t last_ns_ = 0;
  std::uint64_t damaged_packets_ = 0;
  bool is_found_ = false;
  bool has_final_receipt_ = false;
};

}  // namespace torchtrace::recovery
