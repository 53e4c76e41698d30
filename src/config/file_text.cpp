#include "config/file_text.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>

namespace torchtrace::config {
namespace {

// The sample file with all its comments takes a tenth of this.
constexpr std::size_t kMaxFileBytes = std::size_t{64} << 10U;

/// open, read and close are cancellation points.
class CancellationDisabled {
 public:
  CancellationDisabled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  CancellationDisabled(const CancellationDisabled&) = delete;
  CancellationDisabled& operator=(const CancellationDisabled&) = delete;
  ~CancellationDisabled() { pthread_setcancelstate(before_, nullptr); }

 private:
  int before_ = 0;
};

class Descriptor {
 public:
  explicit Descriptor(int number) : number_{number} {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

/// strerror is not safe beside other threads.
std::string error_text(int error) {
  std::array<char, 128> buffer{};
  return strerror_r(error, buffer.data(), buffer.size());
}

/// A relative path is looked for in the host's working directory, which may be a surprise.
std::string open_error(const std::string& path, int error) {
  std::array<char, PATH_MAX> directory{};
  const bool is_relative = path.empty() || path.front() != '/';
  if (!is_relative || getcwd(directory.data(), directory.size()) == nullptr) {
    return error_text(error);
  }
  return error_text(error) + " (looked for in " + directory.data() + ')';
}

std::string check_kind(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return error_text(errno);
  if (S_ISDIR(status.st_mode)) return "it is a directory, not a file";
  if (!S_ISREG(status.st_mode)) return "it is not a regular file";
  if (status.st_size > static_cast<off_t>(kMaxFileBytes)) return "it is larger than 64KiB";
  return {};
}

std::string read_all(int descriptor, std::string& text) {
  std::array<char, 4096> buffer{};
  while (text.size() <= kMaxFileBytes) {
    const ssize_t count = read(descriptor, buffer.data(), buffer.size());
    if (count == 0) return {};
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return error_text(errno);
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return "it is larger than 64KiB";
}

}  // namespace

bool read_file(const std::string& path, std::string& text) {
  const CancellationDisabled no_cancellation;
  text.clear();
  // O_NONBLOCK: opening a FIFO returns at once, and check_kind then refuses it.
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  std::string wrong = file.number() < 0 ? open_error(path, errno) : check_kind(file.number());
  if (wrong.empty()) wrong = read_all(file.number(), text);
  if (wrong.empty()) return true;
  text = wrong;
  return false;
}

}  // namespace torchtrace::config
