#include "doctor/words.h"

namespace torchtrace::cli {
namespace {

struct Unit {
  std::uint64_t size;
  const char* name;
};

/// `number` in the first unit of which it holds `least`, or in the last one.
template <std::size_t count>
std::string in_units(std::uint64_t number, std::uint64_t least, const Unit (&units)[count]) {
  std::size_t chosen = 0;
  while (chosen + 1 < count && number / units[chosen].size < least) ++chosen;
  return std::to_string(number / units[chosen].size) + ' ' + units[chosen].name;
}

constexpr Unit kByteUnits[] = {
    {1ULL << 40U, "TiB"}, {1ULL << 30U, "GiB"}, {1ULL << 20U, "MiB"}, {1ULL << 10U, "KiB"}};
constexpr Unit kTimeUnits[] = {{86400, "days"}, {3600, "h"}, {60, "min"}, {1, "s"}};

}  // namespace

std::string bytes_in_words(std::uint64_t bytes) { return in_units(bytes, 10, kByteUnits); }

std::string age_in_words(std::int64_t seconds) {
  return in_units(seconds < 0 ? 0 : static_cast<std::uint64_t>(seconds), 2, kTimeUnits);
}

}  // namespace torchtrace::cli
