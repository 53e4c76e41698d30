#pragma once

#include <string>

#include "flush/process_info.h"

namespace torchtrace::agent {

/// What the trace says of this process; reads /proc, the environment (RANK, WORLD_SIZE) and torch's
/// version file. Thread: any, once per process.
flush::ProcessInfo gather_process_info(const char* torch_path, const std::string& config_digest);

/// libtorchtrace-lttng.so: in the folder `torchtrace` beside this library.
std::string provider_path();

/// Where lttng-ust looks for the user's own session daemon: $LTTNG_HOME, else $HOME, else empty.
std::string lttng_home();

/// Where `torchtrace run` listens for processes that want its session: $TORCHTRACE_RUN_SOCKET, else
/// empty.
std::string run_socket();

/// `path` as seen from the present working directory.
std::string absolute_path(const std::string& path);

}  // namespace torchtrace::agent
