#pragma once

#include <cstdint>
#include <string>

namespace torchtrace::cli {

/// A number of bytes for people, without decimals: "312 KiB", "63 MiB", "127 GiB".
std::string bytes_in_words(std::uint64_t bytes);

/// How long ago, in the largest unit that gives at least 2: "90 s", "3 h", "12 days".
std::string age_in_words(std::int64_t seconds);

}  // namespace torchtrace::cli
