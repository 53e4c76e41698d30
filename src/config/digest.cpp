#include "config/digest.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "config/option_table.h"
#include "config/value.h"

namespace torchtrace::config {
namespace {

// Source of both constants: Fowler, Noll and Vo, isthe.com/chongo/tech/comp/fnv.
constexpr std::uint64_t kFnvOffset = 0xcbf29ce484222325U;
constexpr std::uint64_t kFnvPrime = 0x100000001b3U;

std::uint64_t add_to_hash(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kFnvPrime;
  return hash;
}

std::string hexadecimal(std::uint64_t number) {
  std::string digits(16, '0');
  for (std::size_t i = digits.size(); i > 0; --i, number >>= 4U) {
    digits[i - 1] = "0123456789abcdef"[number & 0x0FU];
  }
  return digits;
}

}  // namespace

std::string digest(const Config& config) {
  std::uint64_t hash = kFnvOffset;
  for (const Option& option : options()) {
    const std::string value = canonical_text(option, option.fetch(config));
    hash = add_to_hash(hash, std::string{option.name} + '=' + value + '\n');
  }
  return hexadecimal(hash);
}

}  // namespace torchtrace::config
