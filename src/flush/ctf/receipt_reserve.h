#pragma once

#include <cstdint>
#include <string>

#include "core/events.h"
#include "flush/ctf/layout.h"
#include "flush/ctf/stream_file.h"

namespace torchtrace::flush {

/// One page of disk space, set aside when a trace begins, for the final receipt of a trace that
/// could not be written to its end: on a full disk too a reader learns what is missing.
///
/// Until then it is a hidden empty file, which readers skip; used, it is the stream's last file.
/// Thread: one. Errors: `write` says if it failed, nothing throws.
class ReceiptReserve {
 public:
  /// Sets the page aside in `folder`. Where the file system knows no preallocation the file is made
  /// all the same and may meet a full disk later; where it cannot be made, `write` returns false.
  void prepare(const std::string& folder) noexcept;

  /// Writes `receipt` as the only event of packet `sequence_number`. Returns false if it could not.
  bool write(const torchtrace_receipt& receipt, std::uint64_t header_ts_ns, const CtfUuid& uuid,
             std::uint64_t sequence_number, std::uint64_t events_discarded) noexcept;

  /// Removes it if it has not been used.
  void discard() noexcept;

 private:
  StreamFile file_;
  std::string final_path_;
  bool prepared_ = false;
};

}  // namespace torchtrace::flush
