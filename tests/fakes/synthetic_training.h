#pragma once

#include <cstdint>
#include <vector>

#include "core/record.h"

namespace torchtrace::fakes {

/// One operator of an invented training run.
struct SyntheticOperator {
  const char* name;
  core::Scope scope;
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
  std::uint64_t children_ns;  ///< Time in operators right below it.
  std::uint64_t op_id;
  std::uint64_t parent;
  std::int64_t sequence_nr;
  std::uint64_t forward_thread;
  std::uint32_t slot;
  std::uint16_t depth;
};

inline constexpr std::uint32_t kMainSlot = 1;
inline constexpr std::uint32_t kBackwardSlot = 2;

/// Invents the operators of a small network's training on two threads (forward and optimizer on the
/// first, backward on the second), as PyTorch would run them: nested, named and numbered like its
/// own, inside one user scope that stays open throughout.
/// Returns exactly `operators` of them, sorted by `begin_ns`, the first at `start_ns`
/// (CLOCK_MONOTONIC). The same arguments give the same operators.
std::vector<SyntheticOperator> synthetic_training(std::uint64_t operators, std::uint64_t seed,
                                                  std::uint64_t start_ns);

}  // namespace torchtrace::fakes
