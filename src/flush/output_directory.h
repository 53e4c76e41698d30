#pragma once

#include <string>

namespace torchtrace::flush {

/// Makes `wanted` (absolute, parents included, mode 0700). Where that fails, a folder of the same
/// name below `temporary_directory`, and `note` says so in a sentence.
/// Errors: false, and the reason in `note`.
bool make_output_directory(const std::string& wanted, std::string& made, std::string& note);

/// Where traces go that cannot be written where they should: $TMPDIR as the agent found it at
/// start, or /tmp. Set once, before the flush thread starts.
void set_temporary_directory(std::string directory);

}  // namespace torchtrace::flush
