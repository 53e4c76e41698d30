#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/post_mortem.h"
#include "core/record.h"
#include "core/ring.h"

namespace torchtrace::core {

/// The shared mapping: everything that a post-mortem reader needs of a process, in one file
/// (core/mapping.h says where). Offsets, not pointers; plain data and lock-free atomics only.
///
///   0               ProcessHeader
///   names_offset    name arena: NameEntry after NameEntry, `names_used` bytes of it
///   buffers_offset  thread buffers, all of `buffer_bytes`: ThreadHeader, OpenOp frames[],
///                   OpenOp scopes[], Record slots[]
inline constexpr char kMappingMagic[8] = {'T', 'T', 'R', 'A', 'C', 'E', 'M', '1'};
inline constexpr std::uint32_t kMappingVersion = 7;

/// Operators open at once on one thread. Deeper ones are counted `dropped_too_deep`.
inline constexpr std::uint32_t kMaxFrames = 255;
/// User scopes open at once that one thread started. More are counted `dropped_no_scope`.
inline constexpr std::uint32_t kMaxScopes = 512;

using Counter = std::atomic<std::uint64_t>;
static_assert(Counter::is_always_lock_free);

/// Adds to a counter that only the calling thread writes: no locked instruction.
inline void bump(Counter& counter, std::uint64_t by = 1) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

/// Tick and the three clocks at one moment; see core/clock.h.
struct ClockAnchor {
  std::uint64_t ticks;
  std::uint64_t monotonic_ns;
  std::uint64_t monotonic_raw_ns;
  std::uint64_t realtime_ns;
};
inline constexpr std::size_t kAnchorsKept = 64;

/// The moment at which the counter was given up for CLOCK_MONOTONIC; see flush/tick_repair.h.
struct ClockSwitch {
  std::uint64_t good_ticks;  ///< Of the counter: the last that is known to be right.
  std::uint64_t ticks;       ///< What the counter would have shown, had it stayed good.
  std::uint64_t monotonic_ns;
  double ticks_per_ns;
};

struct ProcessHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_bytes;  ///< sizeof(ProcessHeader) of the writer.
  std::uint32_t pid;
  std::uint32_t clock_is_tsc;
  std::uint64_t start_time;           ///< Clock ticks since boot: field 22 of /proc/PID/stat.
  std::uint64_t pid_namespace_inode;  ///< Containers may share /dev/shm.
  std::uint64_t names_offset;
  std::uint64_t names_bytes;
  std::uint64_t buffers_offset;
  std::uint64_t buffer_bytes;
  std::uint64_t slots_per_buffer;
  std::atomic<std::uint32_t> buffer_count;
  std::atomic<std::uint32_t> anchor_count;  ///< Taken so far; the newest is [(count - 1) % kept].
  Counter names_used;                       ///< Bytes of the arena in use.
  ClockAnchor anchors[kAnchorsKept];  ///< Their ticks are the counter's, continued after a switch.
  ClockSwitch clock_switch;           ///< Valid once `clock_has_switched`.
  std::atomic<std::uint32_t> clock_has_switched;
  /// Written by many threads, but only where one has no buffer to count in.
  alignas(64) Counter unbuffered_started;  ///< Starts on a thread that has no buffer.
  Counter dropped_no_buffer;               ///< Those, and ends on a thread that has none.
  /// Written by the flush thread.
  alignas(64) FlushProgress progress;
  EndedThreadsPair ended;
  ProcessFacts facts;
};

/// One name in the arena; `id` = offset / 8. Id 0 stands for "did not fit".
struct NameEntry {
  std::uint32_t length;  ///< Without the NUL that follows the text.
  std::uint32_t hash;
  // char text[length + 1], padded to 8
};
static_assert(sizeof(NameEntry) == 8);

/// An operator that has started and not ended: a frame of the shadow stack, or an entry of the
/// table of user scopes. Written by its thread, read by the flush thread and by post-mortem readers
/// at any time.
///
/// Consistency: the writer stores `op_id` first and `version` (its low half) last; a reader reads
/// `version` first and `op_id` last, and has a whole entry if both agree (`read_open_op`).
///
/// The frame of an operator that a filter leaves out has kFlagFiltered in `info`, and in `op_id`
/// that of the nearest recorded operator around it, which is what stands around those inside it.
/// `version` is then another one's, so that no reader takes the frame for an operator.
struct alignas(64) OpenOp {
  Counter op_id;                       ///< 0 = never used.
  std::atomic<std::uint64_t> address;  ///< Of the RecordFunction: matches an end to its start.
  std::atomic<std::uint64_t> t0_ticks;
  std::atomic<std::uint64_t> info;  ///< `OpInfo`
  Counter parent;                   ///< op_id of the frame below at the start; 0 = none.
  std::atomic<std::uint32_t> version;
  /// Frames: 1 + index of the user scope's entry, 0 = none.
  std::atomic<std::uint32_t> scope_entry;
  std::atomic<std::uint32_t> state;     ///< Entries: `ScopeState`.
  std::atomic<std::uint32_t> commands;  ///< GPU commands launched under it so far.
  std::uint64_t reserved;
};
static_assert(sizeof(OpenOp) == 64);

/// State of a user scope's entry. The ending thread, whichever it is, goes open -> ended after it
/// has pushed the record; only the owner goes ended -> free.
enum ScopeState : std::uint32_t { kScopeFree = 0, kScopeOpen = 1, kScopeEnded = 2 };

/// Who owns a thread buffer. free -> claimed -> active by the thread that takes it; active ->
/// closed by that thread as it exits; closed -> free by the flush thread once all is drained.
enum BufferState : std::uint32_t {
  kBufferAbsent = 0,  ///< A hole in the file: it is in private memory, or is just being made.
  kBufferActive = 1,
  kBufferClosed = 2,
  kBufferClaimed = 3,  ///< Taken, identity not yet written.
  kBufferFree = 4      ///< Also one that no thread has had yet.
};

inline constexpr std::size_t kThreadHeaderBytes = 4096;

/// A page. The op path's line is its last, so that it does not lie at the same place in a page as
/// the frames that are in use with it: a load after a store 4096 bytes away may wait as if they
/// overlapped. Source: Intel 64 and IA-32 Architectures Optimization Reference Manual, "4-KByte
/// aliasing".
struct ThreadHeader {
  /// Identity: written by the thread before `state` becomes active; `slot` is below.
  std::atomic<std::uint32_t> state;  ///< `BufferState`
  std::uint32_t tid;
  std::uint32_t buffer_index;
  std::uint32_t ring_policy;  ///< `RingPolicy`
  std::uint64_t torch_thread;
  char name[16];

  /// Cold producer's line.
  alignas(64) Counter abandoned;  ///< Operators found stale: `dropped_abandoned`.
  Counter abandoned_pushed;       ///< Those of them that have a record in the ring.
  Counter dropped_ring_full;
  Counter dropped_too_deep;
  Counter dropped_no_scope;
  Counter first_loss;  ///< Positions (operator counts) of the losses.
  Counter last_loss;
  std::atomic<std::uint32_t> scopes_used;  ///< Entries [0, scopes_used) may be in use.
  alignas(64) Counter ring_reserved;  ///< Where records overwrite: `RingProducer::take_oldest`.
  Counter dropped_block_timeout;
  std::uint64_t gave_up_at;  ///< Where the producer waits: 1 + head at its last vain wait, or 0.

  /// Consumer's line: only the flush thread writes.
  alignas(64) Counter head;
  Counter overwritten;  ///< Records that it did not get to see.
  char unused[kThreadHeaderBytes - std::size_t{4} * 64 - 2 * sizeof(Counter)];

  /// Producer's line: all that the op path reads and writes of its thread besides frame and record.
  /// Only the thread writes, but for `must_tidy`.
  alignas(64) Counter last_op_id;    ///< Of the newest operator: its count is how many started.
  RingProducer<std::uint64_t> ring;  ///< Over the buffer's slots.
  std::atomic<std::uint32_t> depth;  ///< Frames in use.
  /// Set where another thread has ended a scope of this one, whose frame may be on top.
  std::atomic<std::uint32_t> must_tidy;
  void* observer_data;  ///< An address of the process itself, the observer's own: no reader's.
  std::uint32_t slot;   ///< Identity. Never reused in this process.
  Counter filtered;     ///< Operators left out by a filter.

  std::uint64_t started() const noexcept {
    return OpId::count(last_op_id.load(std::memory_order_relaxed));
  }
};
static_assert(sizeof(ThreadHeader) == kThreadHeaderBytes &&
              offsetof(ThreadHeader, last_op_id) == kThreadHeaderBytes - 64);

/// One thread's part of the mapping; `slots_per_buffer` records follow. At constant distances, so
/// that the op path needs one pointer.
struct alignas(4096) ThreadBuffer {
  ThreadHeader header;
  /// frames[0] stands for "no operator": all zero, for ever. The frame of depth d is frames[d + 1].
  alignas(4096) OpenOp frames[kMaxFrames + 1];
  OpenOp scopes[kMaxScopes];

  Record* slots() noexcept { return reinterpret_cast<Record*>(this + 1); }
  const Record* slots() const noexcept { return reinterpret_cast<const Record*>(this + 1); }
};
static_assert(std::is_standard_layout_v<ThreadBuffer> && sizeof(ThreadBuffer) == 53248);

/// Index of the oldest record in the ring of a dead process that is whole; up to `ring.tail` all
/// are, at slot `index & ring.mask`. Records from `head` up to the one returned were overwritten
/// and counted nowhere yet: the consumer's `overwritten` is what it had found before that.
///
/// The producer overwrites in order and publishes each record by itself, so that in a ring which
/// has gone round only the record in the next slot may be half overwritten.
inline std::uint64_t first_whole_record(const ThreadHeader& header) noexcept {
  const std::uint64_t head = header.head.load(std::memory_order_relaxed);
  const std::uint64_t tail = header.ring.tail.load(std::memory_order_relaxed);
  if (header.ring_policy != kRingOverwriteOldest || tail - head <= header.ring.mask) return head;
  return tail - header.ring.mask;
}

/// A consistent copy of an `OpenOp`.
struct OpenOpCopy {
  std::uint64_t op_id;
  std::uint64_t parent;
  std::uint64_t t0_ticks;
  std::uint32_t name_id;
  std::uint16_t depth;
  std::uint8_t scope;
  std::uint8_t flags;
  std::uint32_t scope_entry;
  std::uint32_t state;
};

/// Copies an entry that its thread may be rewriting; false if it was caught half way, which means
/// that the operator it described has ended. Source of the protocol: Boehm, "Can seqlocks get along
/// with programming language memory models?", MSPC 2012; here with the monotonic op_id as
/// the sequence number.
inline bool read_open_op(const OpenOp& op, OpenOpCopy& copy) noexcept {
  const std::uint32_t version = op.version.load(std::memory_order_acquire);
  copy.t0_ticks = op.t0_ticks.load(std::memory_order_relaxed);
  const std::uint64_t info = op.info.load(std::memory_order_relaxed);
  copy.parent = op.parent.load(std::memory_order_relaxed);
  copy.scope_entry = op.scope_entry.load(std::memory_order_relaxed);
  copy.state = op.state.load(std::memory_order_acquire);
  std::atomic_thread_fence(std::memory_order_acquire);
  copy.op_id = op.op_id.load(std::memory_order_relaxed);
  copy.name_id = OpInfo::name_id(info);
  copy.depth = OpInfo::depth(info);
  copy.scope = OpInfo::scope(info);
  copy.flags = OpInfo::flags(info);
  return copy.op_id != 0 && version == static_cast<std::uint32_t>(copy.op_id);
}

}  // namespace torchtrace::core
