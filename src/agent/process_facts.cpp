#include "agent/process_facts.h"

#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "core/process_stat.h"
#include "flush/output_directory.h"
#include "observer/layout_check.h"
#include "observer/torch_library.h"

namespace torchtrace::agent {

namespace {

/// -1 where the variable is unset or not a number. Source: torchrun's environment,
/// torch.distributed.
std::int64_t rank_variable(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return -1;
  char* end = nullptr;
  const long long value = std::strtoll(text, &end, 10);
  return *end == '\0' && value >= 0 ? value : -1;
}

}  // namespace

flush::ProcessInfo gather_process_info(const char* torch_path, const std::string& config_digest) {
  flush::ProcessInfo info;
  info.pid = static_cast<std::uint32_t>(getpid());
  info.start_time = core::process_start_time(getpid());
  info.rank = rank_variable("RANK");
  info.world_size = rank_variable("WORLD_SIZE");
  info.host = flush::host_name();
  info.command = flush::command_line();
  char version[64];
  observer::read_torch_version(torch_path, version, sizeof(version));
  info.torch_version = version;
  info.torch_path = torch_path;
  info.agent_version = TORCHTRACE_VERSION;
  info.config_digest = config_digest;
  info.describe_layout = observer::describe_layout;
  const char* temporary = std::getenv("TMPDIR");
  if (temporary != nullptr && *temporary == '/') flush::set_temporary_directory(temporary);
  return info;
}

std::string provider_path() {
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&provider_path), &self) == 0) return "";
  const std::string library = absolute_path(self.dli_fname);
  return library.substr(0, library.rfind('/')) + "/torchtrace/libtorchtrace-lttng.so";
}

std::string lttng_home() {
  const char* home = std::getenv("LTTNG_HOME");
  if (home == nullptr) home = std::getenv("HOME");
  return home == nullptr ? "" : home;
}

std::string run_socket() {
  const char* socket = std::getenv("TORCHTRACE_RUN_SOCKET");
  return socket == nullptr ? "" : socket;
}

std::string absolute_path(const std::string& path) {
  if (!path.empty() && path[0] == '/') return path;
  char folder[PATH_MAX];
  if (getcwd(folder, sizeof(folder)) == nullptr) return "/" + path;
  return std::string(folder) + "/" + path;
}

}  // namespace torchtrace::agent
