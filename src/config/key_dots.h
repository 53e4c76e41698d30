#pragma once

#include <cstddef>
#include <string_view>

namespace torchtrace::config {

/// Counts the dots of a TOML text outside comments and strings: those of keys and numbers, so no
/// less than the depth to which its keys nest tables. Agrees with TOML up to the first syntax
/// error, where every parser stops.
std::size_t count_key_dots(std::string_view text);

}  // namespace torchtrace::config
