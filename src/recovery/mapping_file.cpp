#include "recovery/mapping_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "recovery/error.h"

namespace torchtrace::recovery {

namespace {

std::string user_folder(const char* root) {
  return std::string(root) + "/torchtrace-" + std::to_string(geteuid());
}

std::string reason(int error) {
  return error == EPERM ? "it is another user's, or others may enter it" : std::strerror(error);
}

bool has_agent(const std::string& pid) {
  std::ifstream maps("/proc/" + pid + "/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("libtorchtrace.so") != std::string::npos) return true;
  }
  return false;
}

/// Why there is nothing to be read of a process.
[[noreturn]] void say_nothing_there(const std::string& pid, const char* root) {
  const std::string where = " in " + user_folder(root);
  struct stat process {};
  if (stat(("/proc/" + pid).c_str(), &process) != 0) {
    throw Error("process " + pid + " has left nothing" + where +
                ": it ended cleanly, ran no operator, was not traced, or had its buffers in "
                "anonymous memory (it then said so at its start)");
  }
  if (process.st_uid != geteuid()) {
    throw Error("process " + pid + " is of user " + std::to_string(process.st_uid) +
                ": only that user can read what it records");
  }
  if (!has_agent(pid)) throw Error("process " + pid + " runs without torchtrace");
  throw Error("process " + pid + " has nothing" + where +
              ": it has run no operator yet, or its buffers are in anonymous memory (it then said "
              "so at its start)");
}

MappingFile open_below(int at, const char* name, const std::string& path) {
  const OpenFile folder(core::open_private_folder(at, name));
  if (!folder.is_open()) throw Error("cannot use " + path + ": " + reason(errno));
  MappingFile mapping;
  // O_NONBLOCK: a FIFO of that name must not hold us.
  mapping.file = OpenFile(
      openat(folder.fd(), core::kMappingFile, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!mapping.file.is_open()) {
    throw Error("cannot read " + path + "/" + core::kMappingFile + ": " + std::strerror(errno));
  }
  struct stat info {};
  if (fstat(mapping.file.fd(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid()) {
    throw Error(path + "/" + core::kMappingFile + " is not a file of ours");
  }
  mapping.folder = path;
  mapping.state = core::mapping_state(mapping.file.fd());
  return mapping;
}

bool is_name(const std::string& which) {
  return !which.empty() && which.find_first_not_of("0123456789-") == std::string::npos;
}

/// The name of the newest mapping of a PID, or `which` itself if that is one's name.
std::string find_name(const std::string& which, const char* root) {
  for (const core::FoundMapping& mapping : core::find_mappings(root)) {
    if (mapping.name == which || mapping.name.rfind(which + "-", 0) == 0) return mapping.name;
  }
  say_nothing_there(which.substr(0, which.find('-')), root);
}

}  // namespace

MappingFile open_mapping(const std::string& which, const char* root) {
  if (!is_name(which)) {
    std::string path = which;
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    return open_below(AT_FDCWD, path.c_str(), path);
  }
  const std::string name = find_name(which, root);
  const OpenFile user(core::open_user_folder(root, false));
  if (!user.is_open()) {
    throw Error("cannot use " + user_folder(root) + ": " + reason(errno));
  }
  return open_below(user.fd(), name.c_str(), user_folder(root) + "/" + name);
}

}  // namespace torchtrace::recovery
