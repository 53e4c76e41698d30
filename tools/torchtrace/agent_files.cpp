#include "agent_files.h"

#include <filesystem>
#include <initializer_list>
#include <system_error>

namespace torchtrace::cli {
namespace {

namespace fs = std::filesystem;

/// `name` in the library folder of this executable's installation or build tree.
fs::path find_library(const std::string& name) {
  std::error_code error;
  const fs::path bin = fs::read_symlink("/proc/self/exe", error).parent_path();
  // TORCHTRACE_LIBDIR is the installation's, seen from its prefix; it may be absolute as well. The
  // build tree always has `lib`.
  for (const char* folder : {TORCHTRACE_LIBDIR, "lib"}) {
    fs::path path = (bin / ".." / folder / name).lexically_normal();
    if (fs::is_regular_file(path, error)) return path;
  }
  return {};
}

}  // namespace

AgentFiles find_agent(std::string& error) {
  AgentFiles files;
  files.agent = find_library("libtorchtrace.so");
  if (files.agent.empty()) {
    error =
        "libtorchtrace.so is not installed beside this command (expected in ../" TORCHTRACE_LIBDIR
        "); install torchtrace again";
    return files;
  }
  // ld.so(8): the list's separators cannot be escaped.
  if (files.agent.find_first_of(" :") != std::string::npos) {
    error = files.agent + " cannot be preloaded because of the blank or colon in its path; move it";
    files.agent.clear();
    return files;
  }
  files.lttng_provider = find_library("torchtrace/libtorchtrace-lttng.so");
  return files;
}

void preload_agent(const AgentFiles& files, EnvironmentBlock& program) {
  const char* before = program.get("LD_PRELOAD");
  const bool is_empty = before == nullptr || *before == '\0';
  program.set("LD_PRELOAD", is_empty ? files.agent : files.agent + ':' + before);
}

}  // namespace torchtrace::cli
