#pragma once

#include <string>

namespace torchtrace::config {

/// Reads all of a regular file of at most 64KiB: more is not a configuration, and reading it
/// must not hold up the program.
/// Does not open FIFOs and devices for good: a traced program must not wait for a writer. Disables
/// thread cancellation meanwhile, since the host may have one pending and no frame here may unwind.
/// Thread: any. Errors: false, and in `text` what is wrong, as the end of a sentence.
bool read_file(const std::string& path, std::string& text);

}  // namespace torchtrace::config
