#include "flush/ctf/stream_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/descriptor.h"
#include "core/quiet_write.h"

namespace torchtrace::flush {
namespace {

/// Writes at `offset` until all is written or an error comes; returns the bytes written.
std::size_t write_all(int fd, const std::byte* from, std::size_t bytes, std::uint64_t offset,
                      int& error) noexcept {
  const core::QuietWrite quiet;  // a file can be at RLIMIT_FSIZE
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t n = ::pwrite(fd, from + done, bytes - done, static_cast<off_t>(offset + done));
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (n == 0 || errno != EINTR) {
      error = n == 0 ? EIO : errno;
      break;
    }
  }
  return done;
}

int truncate_to(int fd, std::uint64_t bytes) noexcept {
  int result = 0;
  do {
    result = ::ftruncate(fd, static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  return result;
}

}  // namespace

int StreamFile::create(const std::string& path) {
  close();
  path_ = path;
  size_bytes_ = 0;
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return errno;
  struct stat status {};
  // A umask can take away even our own access, which opening it again needs.
  if (::fchmod(fd, 0600) != 0 || ::fstat(fd, &status) != 0) {
    const int error = errno;
    ::close(fd);
    ::unlink(path.c_str());
    return error;
  }
  device_ = status.st_dev;
  inode_ = status.st_ino;
  fd_ = core::move_descriptor(fd);
  return 0;
}

void StreamFile::preallocate(std::uint64_t bytes) const noexcept {
  ::fallocate(fd_, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes));
}

bool StreamFile::is_open_as(int fd, struct stat& status) const noexcept {
  return fd >= 0 && ::fstat(fd, &status) == 0 && status.st_dev == device_ &&
         status.st_ino == inode_;
}

int StreamFile::make_sure_of_descriptor() noexcept {
  struct stat status {};
  if (!is_open_as(fd_, status)) {
    fd_ = -1;  // whatever has the number now is the host's: not ours to close
    const int fd = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return errno;
    if (!is_open_as(fd, status)) {
      ::close(fd);
      return ESTALE;
    }
    fd_ = core::move_descriptor(fd);
  }
  // Removed, cut or added to by somebody: what is written now could not be read.
  const bool intact =
      status.st_nlink > 0 && static_cast<std::uint64_t>(status.st_size) == size_bytes_;
  return intact ? 0 : ESTALE;
}

StreamFile::Appended StreamFile::append(const std::byte* pages, std::size_t count) noexcept {
  Appended result;
  result.error = make_sure_of_descriptor();
  if (result.error != 0) return result;
  const std::size_t written = write_all(fd_, pages, count * kPageBytes, size_bytes_, result.error);
  result.pages = written / kPageBytes;
  size_bytes_ += result.pages * kPageBytes;
  // Cannot fail for want of room; if it does all the same, readers see the part of a packet.
  if (written % kPageBytes != 0 && truncate_to(fd_, size_bytes_) != 0) result.error = errno;
  return result;
}

int StreamFile::write_text(const char* text, std::size_t length) noexcept {
  int error = 0;
  size_bytes_ = write_all(fd_, reinterpret_cast<const std::byte*>(text), length, 0, error);
  return error;
}

void StreamFile::close() noexcept {
  struct stat status {};
  if (is_open_as(fd_, status)) ::close(fd_);
  fd_ = -1;
}

}  // namespace torchtrace::flush
