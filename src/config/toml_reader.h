#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/load.h"
#include "config/raw_value.h"

namespace torchtrace::config {

/// Reads the text of a TOML file into settings, in the order of their lines: one of kind kTable per
/// section, one per key. Knows TOML, and nothing of the options. `file` is how messages name it.
/// Thread: any. Errors: a syntax error (also a key given twice) is added to `problems`, and nothing
/// is returned; the parser stops at the first.
std::vector<Setting> read_toml(std::string_view text, const std::string& file,
                               std::vector<Problem>& problems);

}  // namespace torchtrace::config
