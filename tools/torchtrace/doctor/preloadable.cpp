#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstring>

#include "doctor/check_python.h"
#include "doctor/elf_file.h"

namespace torchtrace::cli {
namespace {

/// True if it runs with more rights than its caller's (AT_SECURE): then the loader reads neither
/// LD_PRELOAD nor the agent its configuration. Source: ld.so(8), secure-execution mode.
bool gains_rights(const std::string& program) {
  struct stat info {};
  if (stat(program.c_str(), &info) != 0) return false;
  const bool changes_user = (info.st_mode & S_ISUID) != 0 && info.st_uid != getuid();
  const bool changes_group = (info.st_mode & S_ISGID) != 0 && info.st_gid != getgid();
  const bool has_capabilities =
      getuid() != 0 && getxattr(program.c_str(), "security.capability", nullptr, 0) > 0;
  return changes_user || changes_group || has_capabilities;
}

}  // namespace

std::string why_not_preloaded(const std::string& program) {
  ElfFile file;
  if (const int error = read_elf_file(program, file)) {
    return program + " cannot be read: " + strerror(error);
  }
  if (!file.is_elf) return {};
  ElfFile self;
  read_elf_file("/proc/self/exe", self);
  if (!file.is_64_bit) {
    return program + " is a 32-bit program, into which a 64-bit agent cannot be loaded";
  }
  if (file.machine != self.machine) {
    return program + " is for another kind of CPU than this torchtrace";
  }
  if (!file.has_interpreter) {
    return program + " is statically linked: it has no loader that would read LD_PRELOAD";
  }
  if (gains_rights(program)) {
    return program +
           " is set-uid or set-gid, or has file capabilities: the loader ignores LD_PRELOAD for "
           "such programs";
  }
  return {};
}

}  // namespace torchtrace::cli
