#pragma once

#include <cstdint>
#include <string>

namespace torchtrace::analysis {

/// A duration for people: four significant digits at most and a unit: "987 ns", "12.34 us", "1.500
/// s". Durations of 1000 s and more keep whole seconds: "86400 s".
std::string format_duration(double ns);

/// A count with separators: "1,234,567".
std::string format_count(std::uint64_t count);

/// `part` of `whole` in percent, with one decimal: "12.5%"; "-" where `whole` is 0.
std::string format_share(std::uint64_t part, std::uint64_t whole);

}  // namespace torchtrace::analysis
