#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace torchtrace::config {

enum class Dimension { kBytes, kTime };

/// Reads a number with its unit, such as "4MiB", "1.5 s" or "10ms", into bytes or nanoseconds.
/// A size without a unit is in bytes; a duration needs one. At most six decimals, and the result
/// must be a whole number of bytes or nanoseconds. Independent of the locale, unlike strtod.
/// Thread: any. Errors: returns what is wrong, as the end of a sentence; empty where nothing is.
std::string parse_quantity(std::string_view text, Dimension dimension, std::uint64_t& out);

/// The shortest text that parse_quantity reads back as exactly `value`: "50ms", "2GiB".
std::string format_quantity(std::uint64_t value, Dimension dimension);

/// The units of a dimension, smallest first: "ns us ms s min h".
std::string unit_names(Dimension dimension);

}  // namespace torchtrace::config
