#pragma once

#include <atomic>
#include <cstdint>

/// Parts of the shared mapping's header that only a post-mortem reader needs (layout.h): what the
/// flush thread knows, and would take with it when the process is killed. All text ends with a NUL.
namespace torchtrace::core {

/// What the process is. Written once, by the flush thread before it looks at a ring; `trace_name`
/// when a trace of the built-in sink begins, and again if another one does; `torch_layout` as the
/// check of the layout goes on.
struct ProcessFacts {
  char command[1024];
  char host[256];
  char torch_version[64];
  char torch_path[1024];
  char torch_layout[256];
  char agent_version[32];
  char config_digest[96];
  /// Where the traces of the process are, absolute; empty: it does not fit.
  char output_directory[2048];
  char trace_name[384];  ///< Folder of its CTF trace in there; empty: none was begun.
  std::int64_t rank;
  std::int64_t world_size;
  std::uint64_t hold_ns;
  std::uint64_t period_ns;
};

enum ActiveSink : std::uint32_t {
  kSinkUndecided = 0,  ///< Nothing has been written anywhere.
  kSinkCtf = 1,
  kSinkOther = 2  ///< LTTng, or none: what was written cannot be looked up.
};

/// What became of the records that have left the rings. Written by the flush thread at the end of
/// each period.
struct FlushProgress {
  std::atomic<std::uint64_t> now_ticks;        ///< When the period began: the last sign of life.
  std::atomic<std::uint64_t> watermark_ticks;  ///< What starts later is still held back.
  std::atomic<std::uint64_t> written;
  std::atomic<std::uint64_t> lost_disk_full;
  std::atomic<std::uint64_t> lost_rotated_out;
  std::atomic<std::uint64_t> lost_elsewhere;
  std::atomic<std::uint64_t> late;
  std::atomic<std::uint64_t> inherited;
  std::atomic<std::uint64_t> names_overflowed;
  std::atomic<std::uint64_t> clock_error_ns;
  std::atomic<std::uint64_t> clock_stepped;
  std::atomic<std::uint32_t> sink;  ///< `ActiveSink`
};

/// Sums over the threads that have ended and given their buffers back.
struct EndedThreads {
  std::uint64_t started;
  std::uint64_t filtered;
  std::uint64_t dropped_ring_full;
  std::uint64_t dropped_too_deep;
  std::uint64_t dropped_no_scope;
  std::uint64_t dropped_abandoned;
  std::uint64_t dropped_block_timeout;
  std::uint64_t dropped_overwritten;
  /// The thread that was added last: its buffer may not have been given back yet.
  std::uint32_t last_slot;
};

/// Two copies, of which `version & 1` is whole: a kill between two stores leaves the other one.
struct EndedThreadsPair {
  EndedThreads copies[2];
  std::atomic<std::uint32_t> version;

  /// Thread: the flush thread.
  void publish(const EndedThreads& ended) noexcept {
    const std::uint32_t next = version.load(std::memory_order_relaxed) + 1;
    copies[next & 1U] = ended;
    version.store(next, std::memory_order_release);
  }
  const EndedThreads& whole() const noexcept {
    return copies[version.load(std::memory_order_acquire) & 1U];
  }
};

}  // namespace torchtrace::core
