#include "flush/thread_buffers.h"

#include <cstring>

namespace torchtrace::flush {

namespace {

constexpr std::uint64_t Totals::*kSummed[] = {&Totals::started,
                                              &Totals::filtered,
                                              &Totals::dropped_ring_full,
                                              &Totals::dropped_too_deep,
                                              &Totals::dropped_no_scope,
                                              &Totals::dropped_no_buffer,
                                              &Totals::dropped_abandoned,
                                              &Totals::dropped_block_timeout,
                                              &Totals::dropped_overwritten};

}  // namespace

void Totals::add(const Totals& other) noexcept {
  for (const auto counter : kSummed) this->*counter += other.*counter;
}

void Totals::subtract(const Totals& other) noexcept {
  for (const auto counter : kSummed) this->*counter -= other.*counter;
}

void put_totals(const Totals& totals, torchtrace_receipt& receipt) noexcept {
  receipt.started = totals.started;
  receipt.filtered = totals.filtered;
  receipt.dropped_ring_full = totals.dropped_ring_full;
  receipt.dropped_too_deep = totals.dropped_too_deep;
  receipt.dropped_no_scope = totals.dropped_no_scope;
  receipt.dropped_no_buffer = totals.dropped_no_buffer;
  receipt.dropped_abandoned = totals.dropped_abandoned;
  receipt.dropped_block_timeout = totals.dropped_block_timeout;
  receipt.dropped_overwritten = totals.dropped_overwritten;
  receipt.open = totals.open;
}

ThreadInfo thread_info(const core::ThreadHeader& header) {
  const std::size_t length = strnlen(header.name, sizeof(header.name));
  return {header.slot, header.tid, header.torch_thread,
          length == 0 ? "unknown" : std::string(header.name, length)};
}

void add_counters(Totals& totals, const core::ThreadHeader& header) noexcept {
  const auto value = [](const core::Counter& counter) {
    return counter.load(std::memory_order_relaxed);
  };
  totals.started += header.started();
  totals.filtered += value(header.filtered);
  totals.dropped_ring_full += value(header.dropped_ring_full);
  totals.dropped_too_deep += value(header.dropped_too_deep);
  totals.dropped_no_scope += value(header.dropped_no_scope);
  totals.dropped_abandoned += value(header.abandoned);
  totals.dropped_block_timeout += value(header.dropped_block_timeout);
  totals.dropped_overwritten += value(header.overwritten);
}

}  // namespace torchtrace::flush
