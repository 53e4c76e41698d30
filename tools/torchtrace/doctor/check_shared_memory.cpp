#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "config/units.h"
#include "core/leftovers.h"
#include "core/mapping.h"
#include "doctor/checks.h"
#include "doctor/words.h"
#include "file_descriptor.h"
#include "lttng_session.h"

namespace torchtrace::cli {
namespace {

constexpr const char* kRoot = core::kSharedMemoryRoot;
constexpr const char* kConsequence =
    "until then a killed program's last operators cannot be recovered";

/// 0, or errno. The file has no name and is gone at once.
int try_to_write() {
  const FileDescriptor file(open(kRoot, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  return file.is_open() ? 0 : errno;
}

std::string user_folder() {
  return std::string(kRoot) + "/torchtrace-" + std::to_string(geteuid());
}

void check_room(Findings& findings, const config::Config::Buffer& buffer) {
  struct statvfs shm {};
  if (statvfs(kRoot, &shm) != 0) return;
  const std::uint64_t free_bytes = std::uint64_t{shm.f_bavail} * shm.f_frsize;
  const auto cpus = static_cast<std::uint64_t>(sysconf(_SC_NPROCESSORS_CONF));
  const std::string found = bytes_in_words(free_bytes) + " free";
  const std::string total = config::format_quantity(buffer.total_bytes, config::Dimension::kBytes);
  if (free_bytes < buffer.total_bytes) {
    findings.warning(kRoot,
                     found + "; buffer.total lets one program take " + total +
                         ", and threads that get no ring are counted, not recorded",
                     "enlarge it (docker run --shm-size=1g), or lower buffer.size");
  } else if (subbuffer_bytes(cpus, free_bytes) == 0) {
    findings.warning(kRoot, found + "; too little for the buffers of an LTTng session",
                     "enlarge it (docker run --shm-size=1g); `torchtrace run` records without "
                     "LTTng meanwhile");
  } else {
    findings.ok(kRoot, found + "; one program takes at most " + total + " (buffer.total)");
  }
}

void check_user_folder(Findings& findings) {
  const FileDescriptor folder(core::open_user_folder(kRoot, false));
  if (folder.is_open()) {
    findings.ok("folder", user_folder() + " is private");
  } else if (errno == ENOENT) {
    findings.ok("folder", user_folder() + " is not there yet; the first program makes it");
  } else {
    const bool is_foreign = errno == EPERM;
    findings.warning(
        "folder",
        user_folder() + " is not used: " +
            (is_foreign ? "it is another user's, or others may enter it" : "it is not a folder"),
        "remove it, as root if it is not yours; " + std::string(kConsequence));
  }
}

void check_leftovers(Findings& findings) {
  const std::time_t now = std::time(nullptr);
  for (const core::Leftover& leftover : core::find_leftovers(kRoot)) {
    const std::string pid = leftover.name.substr(0, leftover.name.find('-'));
    findings.warning("leftover",
                     "process " + pid + ", which was killed, left " +
                         bytes_in_words(leftover.bytes) + ' ' +
                         age_in_words(now - leftover.changed_s) + " ago",
                     "see what it was doing: torchtrace recover " + pid +
                         "; remove it: torchtrace recover --clean");
  }
}

}  // namespace

void check_shared_memory(Findings& findings, const config::Config::Buffer& buffer) {
  const int error = try_to_write();
  // Not every file system has nameless files; those that hold shared memory do.
  if (error != 0 && error != EOPNOTSUPP && error != ENOSPC) {
    findings.warning(
        kRoot, std::string("cannot be written: ") + strerror(error),
        std::string("mount a tmpfs there, with mode 1777; LTTng needs it, and ") + kConsequence);
    return;
  }
  check_room(findings, buffer);
  check_user_folder(findings);
  check_leftovers(findings);
}

}  // namespace torchtrace::cli
