#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace torchtrace::flush {

/// One file of a trace, to which whole pages are appended.
///
/// It lives in a program that it does not own. That program may close every descriptor (daemons do)
/// and open files of its own under the same numbers, so each append first makes sure that the
/// descriptor still is this file, and opens it again by its path if not. It may have a file size
/// limit, so SIGXFSZ never reaches it from here. The file is never mapped: on a full disk a store
/// into a mapping is a SIGBUS.
/// Thread: one at a time. Errors: errno values; never throws, except `create` for want of memory.
class StreamFile {
 public:
  static constexpr std::size_t kPageBytes = 4096;

  StreamFile() = default;
  StreamFile(const StreamFile&) = delete;
  StreamFile& operator=(const StreamFile&) = delete;
  ~StreamFile() { close(); }

  /// Creates the file (0600; it must not exist). Closes the one before. Returns 0 or errno.
  int create(const std::string& path);

  /// Sets disk space aside for `bytes` that will be appended. Where the file system cannot,
  /// appending is as likely to meet a full disk as before.
  void preallocate(std::uint64_t bytes) const noexcept;

  struct Appended {
    std::size_t pages = 0;  ///< That are in the file, from the first on.
    int error = 0;          ///< Why it is not all of them: errno. ESTALE: removed or changed.
  };

  /// Appends `count` pages. `pages` should be aligned to a page: then the kernel's copy ends
  /// between two of them if it ends early. After a part of a page the file is cut back to whole
  /// pages.
  Appended append(const std::byte* pages, std::size_t count) noexcept;

  /// Writes all of a file that is not made of pages (the metadata). Returns 0 or errno.
  int write_text(const char* text, std::size_t length) noexcept;

  /// Closes the descriptor if it still is this file's.
  void close() noexcept;

  const std::string& path() const noexcept { return path_; }
  std::uint64_t size_bytes() const noexcept { return size_bytes_; }

 private:
  bool is_open_as(int fd, struct stat& status) const noexcept;
  int make_sure_of_descriptor() noexcept;

  std::string path_;
  int fd_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace torchtrace::flush
