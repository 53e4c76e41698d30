#pragma once

#include <atomic>
#include <cstdint>

#include "observer/torch_library.h"

namespace torchtrace::observer {

/// What the run-time check of torch_abi.h's offsets has found so far. Only ever moves to the right.
enum class LayoutVerdict : std::uint8_t {
  kUnchecked,  ///< Each event is checked before a field of it is used.
  kVerified,   ///< Enough events agreed: fields are read directly.
  kQuiesced,  ///< The process ends: what starts is not recorded, what is open ends as if kVerified.
  kNameOnly,  ///< Names come from RecordFunction::name() alone; no overloads, no sequence numbers.
  kOff        ///< Nothing fits: events are not recorded.
};

/// Read by the op path on every event; written by the check.
extern std::atomic<LayoutVerdict> g_layout_verdict;

/// Where `fwd_thread_id_` is, found by looking at an object (0: unknown).
extern std::atomic<std::uint32_t> g_forward_thread_offset;

/// Checks one event at its start against what PyTorch's own functions say: the scope is one we
/// registered for; thread number; name pointer; overload name; sequence number in range. After
/// `kEventsToVerify` events that agree the verdict is kVerified; the first that does not makes it
/// kNameOnly or kOff, said once with the check's name.
/// Thread: any. Cold. Returns the verdict for this event: kVerified means its fields can be used.
template <StringAbi abi>
LayoutVerdict check_event(const TorchLibrary& torch, const RecordFunctionCallback& registered,
                          const RecordFunction& event) noexcept;

inline constexpr std::uint32_t kEventsToVerify = 32;

/// See observer.h: `quiesce`, and its undoing in a forked child.
void quiesce_layout() noexcept;
void resume_layout() noexcept;

/// Back to kUnchecked, as in a process that has seen no event. Not while callbacks run; for tests.
void forget_verdict() noexcept;

/// The verdict in words, for `process` events and `doctor`.
const char* describe_layout() noexcept;

}  // namespace torchtrace::observer
