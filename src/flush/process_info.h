#pragma once

#include <cstdint>
#include <string>

namespace torchtrace::flush {

/// What the `process` event says, as far as it does not change. Filled by the agent, which knows
/// the observer and the configuration.
struct ProcessInfo {
  std::uint32_t pid = 0;
  std::uint64_t start_time = 0;
  std::int64_t rank = -1;
  std::int64_t world_size = -1;
  std::string host;
  std::string command;
  std::string torch_version;
  std::string torch_path;
  std::string agent_version;
  std::string config_digest;
  /// Changes while the check runs. nullptr: `torch_layout` is what it said.
  const char* (*describe_layout)() noexcept = nullptr;
  std::string torch_layout;

  /// `HOST-PID-STARTTIME`: the name of this process's trace.
  std::string trace_name() const;
};

/// Host name, or "unknown".
std::string host_name();

/// The command line with blanks between its arguments, cut to `kMaxCommandBytes`; or "unknown".
std::string command_line();
inline constexpr std::size_t kMaxCommandBytes = 1000;

}  // namespace torchtrace::flush
