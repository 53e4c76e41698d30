#pragma once

#include <cstddef>
#include <cstdint>

namespace torchtrace::core {

/// The ten values of `at::RecordScope`, in PyTorch's order.
/// Source: ATen/record_function.h of PyTorch 1.13.1 to 2.15.0; checked against the real header in
/// observer/torch_layout_check.cpp.
enum class Scope : std::uint8_t {
  kFunction = 0,
  kBackwardFunction = 1,
  kTorchscriptFunction = 2,
  kKernelFunctionDtype = 3,
  kCustomClass = 4,
  kBuildFeature = 5,
  kLiteInterpreter = 6,
  kUserScope = 7,
  kStaticRuntimeOp = 8,
  kStaticRuntimeModel = 9,
};
inline constexpr std::size_t kScopeCount = 10;

/// Bits of `Record::flags`, and of the `flags` field of the events `op`, `op_begin` and `op_end`.
enum RecordFlag : std::uint8_t {
  kFlagNone = 0,
  kFlagAsync = 1U << 0U,      ///< Ended on another thread than it started on.
  kFlagAbandoned = 1U << 1U,  ///< Never ended: its frame was found stale. `t1_ticks` is when.
  kFlagDetached = 1U << 2U,   ///< A user scope that outlived the operator it was opened in.
  kFlagLate = 1U << 3U,       ///< Set by the flush thread: emitted behind the watermark.
  kFlagRepeated = 1U << 4U,   ///< An op_begin written again because a file or session began.
  kFlagFiltered = 1U << 5U,   ///< Of frames only: left out by a filter, in no record and no event.
  kFlagClockStepped = 1U << 6U,  ///< A time stamp was taken while the clock turned bad: estimated.
};

/// Identity of one operator call, unique in its process: the slot of the thread that started it and
/// that thread's count of operators at the start. Known before the operator runs.
/// 0 means "no operator": counts begin at 1.
struct OpId {
  static constexpr unsigned kCountBits = 40;
  static constexpr std::uint64_t kCountMask = (std::uint64_t{1} << kCountBits) - 1;

  static constexpr std::uint64_t make(std::uint32_t slot, std::uint64_t count) noexcept {
    return (std::uint64_t{slot} << kCountBits) | (count & kCountMask);
  }
  static constexpr std::uint32_t slot(std::uint64_t op_id) noexcept {
    return static_cast<std::uint32_t>(op_id >> kCountBits);
  }
  static constexpr std::uint64_t count(std::uint64_t op_id) noexcept { return op_id & kCountMask; }
};

/// One operator that has ended, as the op thread leaves it in its ring.
///
/// One cache line, aligned to it: a push never straddles two lines, no extension slot is needed,
/// and the flush thread rebuilds nothing. docs/architecture.md says what 32 bytes would cost.
/// Units: *_ticks are ticks of the process's clock (core/clock.h).
struct alignas(64) Record {
  std::uint64_t t0_ticks;
  std::uint64_t t1_ticks;
  std::uint64_t op_id;
  std::uint64_t parent;          ///< op_id of the operator around it on its thread; 0 = none.
  std::int64_t sequence_nr;      ///< Autograd sequence number, -1 where PyTorch has none.
  std::uint64_t forward_thread;  ///< PyTorch's number of the forward thread, 0 = none.
  std::uint8_t flags;            ///< `RecordFlag`. From here on one word: `OpInfo`.
  std::uint8_t scope;            ///< `Scope`
  std::uint16_t depth;           ///< Operators around it on its thread, filtered ones too.
  std::uint32_t name_id;         ///< core/names.h
  std::uint32_t commands;        ///< GPU commands launched under it.
  std::uint32_t end_slot;        ///< Slot of the thread that ended it.
};
static_assert(sizeof(Record) == 64 && alignof(Record) == 64);

/// Stores a field of a record in a ring. Atomic, since the consumer of a ring that overwrites may
/// be copying it (core/ring.h); the machine code is that of a plain store.
template <class T, class Value>
void put(T& field, Value value) noexcept {
  __atomic_store_n(&field, static_cast<T>(value), __ATOMIC_RELAXED);
}

/// What an operator is, in the word that a frame holds and a record takes over with one store.
struct OpInfo {
  static constexpr std::uint64_t pack(std::uint32_t name_id, std::uint32_t depth,
                                      std::uint8_t scope) noexcept {
    return std::uint64_t{name_id} << 32U | std::uint64_t{depth & 0xFFFFU} << 16U |
           std::uint64_t{scope} << 8U;
  }
  static constexpr std::uint8_t flags(std::uint64_t info) noexcept {
    return static_cast<std::uint8_t>(info);
  }
  static constexpr std::uint8_t scope(std::uint64_t info) noexcept {
    return static_cast<std::uint8_t>(info >> 8U);
  }
  static constexpr std::uint16_t depth(std::uint64_t info) noexcept {
    return static_cast<std::uint16_t>(info >> 16U);
  }
  static constexpr std::uint32_t name_id(std::uint64_t info) noexcept {
    return static_cast<std::uint32_t>(info >> 32U);
  }
  /// Fills flags, scope, depth and name_id of a record.
  static void store(std::uint64_t info, Record& record) noexcept {
    using Word __attribute__((may_alias)) = std::uint64_t;
    put(*reinterpret_cast<Word*>(&record.flags), info);
  }
};
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "OpInfo is laid out like a record");
static_assert(offsetof(Record, scope) == offsetof(Record, flags) + 1 &&
              offsetof(Record, depth) == offsetof(Record, flags) + 2 &&
              offsetof(Record, name_id) == offsetof(Record, flags) + 4);

}  // namespace torchtrace::core
