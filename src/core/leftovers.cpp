#include "core/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "core/layout.h"
#include "core/mapping.h"
#include "core/process_stat.h"

namespace torchtrace::core {

namespace {

constexpr std::size_t kKept = 4;
constexpr std::uint64_t kKeptBytes = 64U << 20U;
constexpr std::uint64_t kBlock = 512;  // st_blocks, whatever the file system. Source: stat(3type)

/// Closes at the end of its scope.
struct Descriptor {
  explicit Descriptor(int number) noexcept : fd(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
  int fd;
};

}  // namespace

MappingState mapping_state(int fd) noexcept {
  if (flock(fd, LOCK_SH | LOCK_NB) != 0) return MappingState::kRunning;
  ProcessHeader header{};
  const ssize_t length =
      pread(fd, static_cast<void*>(&header), offsetof(ProcessHeader, anchors), 0);
  flock(fd, LOCK_UN);
  if (length < static_cast<ssize_t>(offsetof(ProcessHeader, anchors)) ||
      std::memcmp(header.magic, kMappingMagic, sizeof(kMappingMagic)) != 0 ||
      header.pid_namespace_inode != pid_namespace_inode()) {
    return MappingState::kUnknown;
  }
  // The program may have closed the file that holds the lock.
  return process_start_time(static_cast<pid_t>(header.pid)) == header.start_time
             ? MappingState::kRunning
             : MappingState::kDead;
}

std::vector<FoundMapping> find_mappings(const char* root) {
  std::vector<FoundMapping> found;
  const int user_folder = open_user_folder(root, false);
  DIR* entries = user_folder < 0 ? nullptr : fdopendir(user_folder);
  if (entries == nullptr) return found;
  while (const dirent* entry = readdir(entries)) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    const std::string path = std::string(entry->d_name) + "/" + kMappingFile;
    const Descriptor file(
        openat(user_folder, path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat info {};
    if (file.fd < 0 || fstat(file.fd, &info) != 0 || !S_ISREG(info.st_mode)) continue;
    found.push_back({entry->d_name, info.st_mtime,
                     static_cast<std::uint64_t>(info.st_blocks) * kBlock, mapping_state(file.fd)});
  }
  closedir(entries);
  std::sort(found.begin(), found.end(), [](const FoundMapping& left, const FoundMapping& right) {
    return left.changed_s > right.changed_s;
  });
  return found;
}

std::vector<Leftover> find_leftovers(const char* root) {
  std::vector<Leftover> found = find_mappings(root);
  found.erase(std::remove_if(
                  found.begin(), found.end(),
                  [](const FoundMapping& mapping) { return mapping.state != MappingState::kDead; }),
              found.end());
  return found;
}

bool remove_leftover(const char* root, const std::string& name) noexcept {
  const Descriptor user_folder(open_user_folder(root, false));
  if (user_folder.fd < 0) return false;
  char path[128];
  std::snprintf(path, sizeof(path), "%s/%s", name.c_str(), kMappingFile);
  return unlinkat(user_folder.fd, path, 0) == 0 &&
         unlinkat(user_folder.fd, name.c_str(), AT_REMOVEDIR) == 0;
}

void trim_leftovers(const char* root) {
  std::uint64_t bytes = 0;
  std::size_t kept = 0;
  for (const Leftover& leftover : find_leftovers(root)) {
    bytes += leftover.bytes;
    if (++kept <= kKept && bytes <= kKeptBytes) continue;
    remove_leftover(root, leftover.name);
  }
}

}  // namespace torchtrace::core
