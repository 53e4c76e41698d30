#include "analysis/units.h"

#include <array>
#include <cstdio>

namespace torchtrace::analysis {
namespace {

constexpr std::size_t kNumberChars = 64;

std::string format_number(const char* format, double value, const char* unit) {
  std::array<char, kNumberChars> text{};
  std::snprintf(text.data(), text.size(), format, value, unit);
  return text.data();
}

struct Unit {
  const char* name;
  double ns;
};

}  // namespace

std::string format_duration(double ns) {
  static constexpr Unit kUnits[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  // What would round up to 1000 of a unit belongs to the next one.
  constexpr double kAfterNs = 999.5;
  constexpr double kNextUnit = 999.95;
  if (ns < kAfterNs) {
    return format_number("%.0f %s", ns, "ns");
  }
  const Unit* unit = kUnits;
  while (unit != kUnits + 2 && ns / unit->ns >= kNextUnit) {
    ++unit;
  }
  const double value = ns / unit->ns;
  const char* format = value >= kNextUnit ? "%.0f %s"
                       : value >= 99.995  ? "%.1f %s"
                       : value >= 9.9995  ? "%.2f %s"
                                          : "%.3f %s";
  return format_number(format, value, unit->name);
}

std::string format_count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string format_share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0
             ? "-"
             : format_number("%.1f%s",
                             100.0 * static_cast<double>(part) / static_cast<double>(whole), "%");
}

}  // namespace torchtrace::analysis
