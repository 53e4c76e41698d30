#pragma once

#include <string>

#include "flush/process_info.h"

namespace torchtrace::agent {

/// What the trace says of this process; reads /proc, the environment (RANK, WORLD_SIZE) and torch's
/// version file. Thread: any, once per process.
flush::ProcessInfo gather_process_info(const char* torch_path, const std::string& config_digest);

/// libtorchtrace-lttng.so: in the folder `torchtrace` beside this library.
std::string provider_path();

/// `path` as seen from the present working directory.
std::string absolute_path(const std::string& path);

}  // namespace torchtrace::agent
