#pragma once

#include <cstdint>
#include <vector>

#include "fakes/synthetic_training.h"
#include "flush/sink.h"

namespace torchtrace::fakes {

/// How a synthetic process behaves.
struct SyntheticProcessOptions {
  std::uint32_t pid = 4242;
  std::uint64_t hold_ns = 50'000'000;
  std::uint64_t period_ns = 10'000'000;
  std::uint64_t late_every = 0;  ///< Each n-th operator is emitted one period late; 0: none.
  bool real_time =
      false;            ///< Takes as long as the run would have: something can be read meanwhile.
  bool killed = false;  ///< No final receipt, and what is open stays open.
};

/// Hands `operators` (sorted by begin) to `sink` as the flush thread would: in periods, in start
/// order, those open for longer than the hold as op_begin and op_end, with state, and a receipt
/// each second and at the end. Does not close the sink.
/// Returns the operators handed in (`op`, `op_end` with outcome ended).
std::uint64_t emit_as_process(const std::vector<SyntheticOperator>& operators,
                              const SyntheticProcessOptions& options, flush::Sink& sink);

}  // namespace torchtrace::fakes
