#include "core/mapping.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/descriptor.h"
#include "core/errno_guard.h"
#include "core/process_stat.h"

namespace torchtrace::core {

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kNamesOffset = (sizeof(ProcessHeader) + kPage - 1) / kPage * kPage;
/// Address space only; memory is allocated by `kNamesStep` as names come.
constexpr std::uint64_t kNamesBytes = 16U << 20U;
constexpr std::uint64_t kNamesStep = 256U << 10U;
constexpr int kAllocationTries = 100;
/// Programs that one process may have become by exec, each with operators.
constexpr int kMaxImages = 99;
constexpr std::uint64_t kBuffersOffset = kNamesOffset + kNamesBytes;

bool is_private_folder(int fd) noexcept {
  struct stat info {};
  return fstat(fd, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
         (info.st_mode & 077) == 0;
}

}  // namespace

int open_private_folder(int at, const char* name) noexcept {
  const int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && !is_private_folder(fd)) {
    close(fd);
    errno = EPERM;
    return -1;
  }
  return fd;
}

std::uint64_t pid_namespace_inode() noexcept {
  struct stat info {};
  return stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

int open_user_folder(const char* root, bool create) noexcept {
  char path[96];
  std::snprintf(path, sizeof(path), "%s/torchtrace-%u", root, static_cast<unsigned>(geteuid()));
  if (create && mkdir(path, 0700) != 0 && errno != EEXIST) return -1;
  return open_private_folder(AT_FDCWD, path);
}

bool Mapping::fail(const char* why) noexcept {
  why_not_ = why;
  return false;
}

bool Mapping::create(const Options& options) noexcept {
  max_buffers_ = options.max_buffers;
  if (!create_file(options.root) && !create_anonymous()) return false;
  fill_header(options);
  return true;
}

bool Mapping::create_file(const char* root) noexcept {
  const int user_folder = open_user_folder(root, true);
  if (user_folder < 0) return fail("the user's folder in /dev/shm cannot be used");
  char name[64];
  std::snprintf(name, sizeof(name), "%d-%llu", static_cast<int>(getpid()),
                static_cast<unsigned long long>(process_start_time(getpid())));
  bool made = mkdirat(user_folder, name, 0700) == 0;
  // exec keeps pid and start time: what stands there is of the program before it.
  const std::size_t length = std::strlen(name);
  for (int image = 2; !made && errno == EEXIST && image <= kMaxImages; ++image) {
    std::snprintf(name + length, sizeof(name) - length, "-%d", image);
    made = mkdirat(user_folder, name, 0700) == 0;
  }
  const int folder = made ? open_private_folder(user_folder, name) : -1;
  close(user_folder);
  if (folder < 0) return fail("no folder can be made in /dev/shm");
  std::snprintf(folder_, sizeof(folder_), "%s/torchtrace-%u/%s", root,
                static_cast<unsigned>(geteuid()), name);
  const int fd = openat(folder, kMappingFile, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  close(folder);
  struct stat info {};
  if (fd < 0 || fstat(fd, &info) != 0) {
    remove();
    return fail("no file can be made in /dev/shm");
  }
  // The lock says "alive"; see leftovers.h.
  flock(fd, LOCK_EX | LOCK_NB);
  file_device_ = info.st_dev;
  file_inode_ = info.st_ino;
  void* memory = MAP_FAILED;
  if (ftruncate(fd, static_cast<off_t>(kBuffersOffset)) == 0 &&
      posix_fallocate(fd, 0, static_cast<off_t>(kNamesOffset + kNamesStep)) == 0) {
    memory = map_range(0, kBuffersOffset);
  }
  if (memory == MAP_FAILED) {
    close(fd);
    remove();
    file_inode_ = 0;
    return fail("/dev/shm is full");
  }
  lock_fd_ = move_descriptor(fd);
  names_allocated_.store(kNamesStep, std::memory_order_relaxed);
  header_ = static_cast<ProcessHeader*>(memory);
  return true;
}

bool Mapping::create_anonymous() noexcept {
  folder_[0] = '\0';
  void* memory = mmap(nullptr, kBuffersOffset, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  names_allocated_.store(kNamesBytes, std::memory_order_relaxed);
  header_ = static_cast<ProcessHeader*>(memory);
  return true;
}

void Mapping::fill_header(const Options& options) noexcept {
  names_ = reinterpret_cast<char*>(header_) + kNamesOffset;
  header_->version = kMappingVersion;
  header_->header_bytes = sizeof(ProcessHeader);
  header_->pid = static_cast<std::uint32_t>(getpid());
  header_->start_time = process_start_time(getpid());
  header_->pid_namespace_inode = pid_namespace_inode();
  header_->names_offset = kNamesOffset;
  header_->names_bytes = kNamesBytes;
  header_->buffers_offset = kBuffersOffset;
  header_->buffer_bytes = sizeof(ThreadBuffer) + options.ring_bytes;
  header_->slots_per_buffer = options.ring_bytes / sizeof(Record);
  header_->names_used.store(8, std::memory_order_relaxed);  // id 0 is taken
  // Last, so that a reader never takes a half-filled header for a whole one.
  std::atomic_thread_fence(std::memory_order_release);
  std::memcpy(header_->magic, kMappingMagic, sizeof(kMappingMagic));
}

int Mapping::open_again() const noexcept {
  char path[sizeof(folder_) + sizeof(kMappingFile) + 1];
  std::snprintf(path, sizeof(path), "%s/%s", folder_, kMappingFile);
  const int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return -1;
  struct stat info {};
  if (fstat(fd, &info) == 0 && info.st_dev == file_device_ && info.st_ino == file_inode_) return fd;
  close(fd);
  return -1;
}

/// Through an open file of its own: a mapping keeps the open file it was made from, and with it
/// that file's lock, which a forked child has to be able to give up.
void* Mapping::map_range(std::uint64_t offset, std::uint64_t bytes) noexcept {
  const int fd = open_again();
  if (fd < 0) return MAP_FAILED;
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
  close(fd);
  return memory;
}

bool Mapping::allocate_range(std::uint64_t offset, std::uint64_t bytes) noexcept {
  const ErrnoGuard keep_errno;  // names are appended in callbacks
  const int fd = open_again();
  if (fd < 0) return false;
  int error = EINTR;  // tmpfs gives up where a signal is pending, a profiler's timer say
  for (int attempt = 0; attempt < kAllocationTries && error == EINTR; ++attempt) {
    error = posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  }
  close(fd);
  return error == 0;
}

char* Mapping::append_name(std::size_t bytes) noexcept {
  std::uint64_t start = header_->names_used.load(std::memory_order_relaxed);
  do {
    // Memory first: what counts as used has to be there for whoever reads it.
    if (!allocate_names(start + bytes)) return nullptr;
  } while (
      !header_->names_used.compare_exchange_weak(start, start + bytes, std::memory_order_relaxed));
  return names_ + start;
}

bool Mapping::allocate_names(std::uint64_t end) noexcept {
  if (end > kNamesBytes) return false;
  std::uint64_t allocated = names_allocated_.load(std::memory_order_acquire);
  while (end > allocated) {
    // Two threads may allocate the same step: doing it twice changes nothing.
    if (!allocate_range(kNamesOffset + allocated, kNamesStep)) return false;
    names_allocated_.compare_exchange_strong(allocated, allocated + kNamesStep,
                                             std::memory_order_acq_rel);
    allocated = names_allocated_.load(std::memory_order_acquire);
  }
  return true;
}

ThreadBuffer* Mapping::map_buffer(std::uint32_t index) noexcept {
  const std::uint64_t bytes = header_->buffer_bytes;
  const std::uint64_t offset = kBuffersOffset + std::uint64_t{index} * bytes;
  if (is_recoverable() && allocate_range(offset, bytes)) {
    void* shared = map_range(offset, bytes);
    if (shared != MAP_FAILED) return static_cast<ThreadBuffer*>(shared);
  }
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<ThreadBuffer*>(memory);
}

void Mapping::remove() noexcept {
  if (folder_[0] == '\0') return;
  char path[sizeof(folder_) + sizeof(kMappingFile) + 1];
  std::snprintf(path, sizeof(path), "%s/%s", folder_, kMappingFile);
  unlink(path);
  rmdir(folder_);
}

void Mapping::release_lock() noexcept {
  struct stat info {};
  if (lock_fd_ < 0 || fstat(lock_fd_, &info) != 0) return;
  // The host may have closed it and opened something of its own under that number.
  if (info.st_dev == file_device_ && info.st_ino == file_inode_) close(lock_fd_);
  lock_fd_ = -1;
}

}  // namespace torchtrace::core
