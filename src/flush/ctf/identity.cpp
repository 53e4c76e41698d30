// What only run time knows of a trace: its UUID, the machine's clock, the process.
#include <fcntl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "flush/ctf/metadata.h"
#include "flush/process_info.h"

namespace torchtrace::flush {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::int64_t now_ns(clockid_t clock) noexcept {
  timespec now{};
  ::clock_gettime(clock, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

std::int64_t measure_offset_ns() noexcept {
  constexpr int kSamples = 10;
  std::int64_t best_window_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t offset_ns = 0;
  for (int i = 0; i < kSamples; ++i) {
    const std::int64_t before_ns = now_ns(CLOCK_MONOTONIC);
    const std::int64_t real_ns = now_ns(CLOCK_REALTIME);
    const std::int64_t window_ns = now_ns(CLOCK_MONOTONIC) - before_ns;
    if (window_ns >= best_window_ns) continue;
    best_window_ns = window_ns;
    offset_ns = real_ns - (before_ns + window_ns / 2);
  }
  return offset_ns;
}

/// First line of a small file of /proc; empty if it cannot be read.
std::string first_line(const char* path) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  char text[128];
  ssize_t length = 0;
  do {
    length = ::read(fd, text, sizeof text);
  } while (length < 0 && errno == EINTR);
  ::close(fd);
  if (length <= 0) return {};
  std::string line(text, static_cast<std::size_t>(length));
  return line.substr(0, line.find('\n'));
}

void fill_without_randomness(CtfUuid& uuid) noexcept {
  const std::int64_t seed[2] = {now_ns(CLOCK_REALTIME) ^ (std::int64_t{::getpid()} << 40),
                                now_ns(CLOCK_MONOTONIC)};
  static_assert(sizeof seed == sizeof uuid);
  std::memcpy(uuid.data(), seed, sizeof seed);
}

}  // namespace

CtfClock read_ctf_clock() {
  return {first_line("/proc/sys/kernel/random/boot_id"), measure_offset_ns()};
}

CtfUuid make_ctf_uuid() noexcept {
  CtfUuid uuid{};
  if (::getrandom(uuid.data(), uuid.size(), GRND_NONBLOCK) != static_cast<ssize_t>(uuid.size())) {
    fill_without_randomness(uuid);
  }
  // Version 4, variant 1: RFC 4122, section 4.4.
  uuid[6] = static_cast<std::uint8_t>((uuid[6] & 0x0FU) | 0x40U);
  uuid[8] = static_cast<std::uint8_t>((uuid[8] & 0x3FU) | 0x80U);
  return uuid;
}

CtfTraceIdentity describe_this_process(const std::string& trace_name) {
  CtfTraceIdentity identity;
  identity.uuid = make_ctf_uuid();
  identity.clock = read_ctf_clock();
  identity.host = host_name();
  identity.trace_name = trace_name;
  identity.process_name = first_line("/proc/self/comm");
  if (identity.process_name.empty()) identity.process_name = "unknown";
  identity.pid = static_cast<std::uint32_t>(::getpid());
  return identity;
}

}  // namespace torchtrace::flush
