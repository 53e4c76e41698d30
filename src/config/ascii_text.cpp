#include "config/ascii_text.h"

#include <cstddef>

namespace torchtrace::config {
namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";

bool is_encoded(unsigned char byte) { return byte >= 0x80U || byte == '%'; }

/// The byte that two digits stand for, or -1.
int byte_of(std::string_view digits) {
  if (digits.size() < 2) return -1;
  const std::size_t high = kHex.find(digits[0]);
  const std::size_t low = kHex.find(digits[1]);
  const bool is_hex = high != std::string_view::npos && low != std::string_view::npos;
  return is_hex ? static_cast<int>(high * 16 + low) : -1;
}

}  // namespace

std::string encode_ascii(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (!is_encoded(byte)) {
      out += c;
      continue;
    }
    out += '%';
    out += kHex[byte >> 4U];
    out += kHex[byte & 0x0FU];
  }
  return out;
}

std::string decode_ascii(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const int byte = text[at] == '%' ? byte_of(text.substr(at + 1, 2)) : -1;
    out += byte < 0 ? text[at] : static_cast<char>(byte);
    if (byte >= 0) at += 2;
  }
  return out;
}

}  // namespace torchtrace::config
