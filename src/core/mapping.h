#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/layout.h"

namespace torchtrace::core {

/// Where mappings are, and the name of the file in a process's folder there.
inline constexpr char kSharedMemoryRoot[] = "/dev/shm";
inline constexpr char kMappingFile[] = "ring";

/// The process's shared mapping (layout.h): one file, mode 0600, created exclusively as
/// `/dev/shm/torchtrace-UID/PID-STARTTIME/ring`, so that what a killed program had recorded can be
/// read. Where that cannot be had, anonymous memory with the same layout: recording works, recovery
/// does not.
///
/// Every byte is allocated (fallocate) before it is touched: on a full tmpfs, ftruncate and mmap
/// succeed and the first store is a SIGBUS in the host. The file's descriptor is only a lock that
/// says "alive"; it is never written through, since the host may close it and open something else
/// under its number. Growing opens the file again by its name.
///
/// Owner: leaked on purpose, op threads may use it until the process is gone.
class Mapping {
 public:
  struct Options {
    std::uint64_t ring_bytes = 0;          ///< Per thread; a power of two.
    std::uint32_t max_buffers = 0;         ///< Thread buffers at most.
    const char* root = kSharedMemoryRoot;  ///< Where the user's folder is; tests use others.
  };

  /// Creates header and name arena. Falls back to anonymous memory; false only where not even that
  /// can be had. `is_recoverable()` tells which, `why_not()` why. Thread: one, before any other
  /// function. Errors: never throws.
  bool create(const Options& options) noexcept;

  ProcessHeader& header() noexcept { return *header_; }
  const ProcessHeader& header() const noexcept { return *header_; }
  const char* names() const noexcept { return names_; }
  std::uint32_t max_buffers() const noexcept { return max_buffers_; }
  std::uint64_t ring_slots() const noexcept { return header_->slots_per_buffer; }

  /// Room for `bytes` (a multiple of 8) at the end of the name arena; nullptr if it is full.
  /// Thread: any; lock-free, but may make system calls. Never on the hot path.
  char* append_name(std::size_t bytes) noexcept;

  /// Maps thread buffer `index`, all zero: in the file, or where that cannot grow, in memory of its
  /// own, which a post-mortem reader does not see. nullptr if there is no memory at all.
  /// Thread: any, each index once. System calls: a thread's first operator only.
  ThreadBuffer* map_buffer(std::uint32_t index) noexcept;

  bool is_recoverable() const noexcept { return file_inode_ != 0; }
  const char* why_not() const noexcept { return why_not_; }

  /// Path of the mapping's folder; empty if it is anonymous.
  const char* folder() const noexcept { return folder_; }

  /// Unlinks file and folder; the memory stays usable. For a clean exit.
  void remove() noexcept;

  /// In a forked child: gives up the parent's lock, so that the parent's death can be seen. Touches
  /// nothing else.
  void release_lock() noexcept;

 private:
  bool create_file(const char* root) noexcept;
  bool create_anonymous() noexcept;
  bool allocate_names(std::uint64_t end) noexcept;
  bool allocate_range(std::uint64_t offset, std::uint64_t bytes) noexcept;
  void* map_range(std::uint64_t offset, std::uint64_t bytes) noexcept;
  int open_again() const noexcept;
  void fill_header(const Options& options) noexcept;
  bool fail(const char* why) noexcept;

  ProcessHeader* header_ = nullptr;
  char* names_ = nullptr;
  std::uint32_t max_buffers_ = 0;
  std::atomic<std::uint64_t> names_allocated_{0};
  int lock_fd_ = -1;
  dev_t file_device_ = 0;
  ino_t file_inode_ = 0;
  char folder_[128] = {};
  const char* why_not_ = "";
};

/// Inode of /proc/self/ns/pid; 0 if unknown.
std::uint64_t pid_namespace_inode() noexcept;

/// Opens the folder `name` below the open folder `at` (or AT_FDCWD) if it is a real one, of our own
/// effective user and without access for others. -1 and errno otherwise: EPERM if not private.
int open_private_folder(int at, const char* name) noexcept;

/// Opens `root`/torchtrace-UID, made if `create`, with the tests that recovery applies too: a real
/// folder of our own effective user without access for others. -1 and errno otherwise.
int open_user_folder(const char* root, bool create) noexcept;

}  // namespace torchtrace::core
