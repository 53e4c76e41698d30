#include "flush/ctf/receipt_reserve.h"

#include <unistd.h>

#include <cstdio>

#include "flush/ctf/disk_budget.h"
#include "flush/ctf/packet.h"

namespace torchtrace::flush {

void ReceiptReserve::prepare(const std::string& folder) noexcept {
  try {
    final_path_ = folder + "/" + kStreamPrefix + "final";
    prepared_ = file_.create(folder + "/" + kReserveName) == 0;
  } catch (...) {
    prepared_ = false;
  }
  if (prepared_) file_.preallocate(kCtfPacketBytes);
  file_.close();
}

bool ReceiptReserve::write(const torchtrace_receipt& receipt, std::uint64_t header_ts_ns,
                           const CtfUuid& uuid, std::uint64_t sequence_number,
                           std::uint64_t events_discarded) noexcept {
  if (!prepared_) return false;
  alignas(kCtfPacketBytes) std::byte page[kCtfPacketBytes];
  CtfPacket packet;
  packet.begin(page);
  packet.append(receipt, header_ts_ns);
  packet.finish(uuid, sequence_number, events_discarded);
  if (file_.append(page, 1).pages != 1) return false;
  file_.close();
  if (::rename(file_.path().c_str(), final_path_.c_str()) != 0) return false;
  prepared_ = false;
  return true;
}

void ReceiptReserve::discard() noexcept {
  if (prepared_) ::unlink(file_.path().c_str());
  prepared_ = false;
}

}  // namespace torchtrace::flush
