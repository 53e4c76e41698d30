#pragma once

#include <string>

#include "config/config.h"

namespace torchtrace::config {

/// FNV-1a hash, 64 bits, of all values in the option table's order, as 16 hexadecimal digits. The
/// same for the same values wherever they come from and however they were written ("1024KiB",
/// "1MiB").
std::string digest(const Config& config);

}  // namespace torchtrace::config
