#pragma once

#include <cstdint>
#include <string>

#include "flush/ctf/packet_batch.h"
#include "flush/ctf/receipt_reserve.h"
#include "flush/ctf/stream_files.h"
#include "flush/ctf_sink.h"

namespace torchtrace::flush {

/// Events in, packets out, every operator accounted for: those handed in are written (in a file, or
/// in memory on their way to it), lost to a full disk, or removed with an old file.
///
/// Once something cannot be written the stream stops for good: the rest is only counted, `say` is
/// called once, and the final receipt goes into the page set aside for it.
/// Thread: one at a time (`Sink`). Errors: counted; nothing throws but the constructor and `open`.
class CtfStream {
 public:
  /// A packet that is not full is written once it has been open for this long: a killed program's
  /// trace ends at most this, a flush period and the hold before the program does. The price is ten
  /// packets a second in a program that runs few operators.
  static constexpr std::uint64_t kMaxPacketAgeNs = 100'000'000;

  /// `folder`: the trace, which exists and has its metadata, with the same `uuid`.
  CtfStream(const CtfSinkOptions& options, const std::string& folder, const CtfUuid& uuid);

  /// Begins the first file. Returns false and one sentence if it cannot.
  bool open(std::string& error);

  template <typename Event>
  void append(const Event& event, bool is_operator) noexcept;

  /// Appends the last event of the trace behind everything that is still in memory, after
  /// correcting its counts by what writing that out has lost.
  void append_final(torchtrace_receipt receipt) noexcept;

  void end_of_period(std::uint64_t now_ns) noexcept;
  bool take_state_request() noexcept;
  Sink::Counts counts() const noexcept;
  void close() noexcept;

 private:
  std::uint64_t header_timestamp_ns(std::uint64_t ts_ns) const noexcept;
  void complete_packet() noexcept;
  bool ends_block() const noexcept;
  void write_out() noexcept;
  void write_out_all() noexcept;
  void stop(int error) noexcept;
  std::string reason(int error) const;
  bool append_to_last_file(const torchtrace_receipt& receipt) noexcept;

  CtfSinkOptions options_;
  CtfUuid uuid_;
  StreamFiles files_;
  ReceiptReserve reserve_;
  PacketBatch batch_;
  std::uint64_t open_since_ns_ = 0;  ///< First end of period that found the packet open; 0: none.
  std::uint64_t last_ts_ns_ = 0;     ///< In a header: time stamps never go backwards in a stream.
  std::uint64_t next_sequence_number_ = 0;
  std::uint64_t state_given_for_ = 0;  ///< Number of the file for which state was last asked.
  PacketBatch::Tally lost_;            ///< To a full disk.
  bool stopped_ = false;
};

}  // namespace torchtrace::flush
