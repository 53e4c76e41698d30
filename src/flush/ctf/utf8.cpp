#include "flush/ctf/utf8.h"

#include <cstdint>
#include <cstring>

namespace torchtrace::flush {
namespace {

/// What the first byte of a character says: its length, and the bounds of the second byte, by which
/// overlong forms, surrogates and values beyond U+10FFFF are told. Length 0: no first byte.
struct Lead {
  std::size_t length;
  std::uint8_t second_min;
  std::uint8_t second_max;
};

Lead classify(std::uint8_t byte) noexcept {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2 || byte > 0xF4) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {4, 0x80, 0xBF};
}

enum class Form { kWhole, kCut, kMalformed };

/// Judges the character of `lead` at `text`, of which `available` bytes can be seen.
Form check(const std::uint8_t* text, Lead lead, std::size_t available) noexcept {
  if (lead.length == 0) return Form::kMalformed;
  for (std::size_t i = 1; i < lead.length; ++i) {
    if (i == available) return Form::kCut;
    const std::uint8_t min = i == 1 ? lead.second_min : 0x80;
    const std::uint8_t max = i == 1 ? lead.second_max : 0xBF;
    if (text[i] < min || text[i] > max) return Form::kMalformed;
  }
  return Form::kWhole;
}

std::size_t copy_checked(char* to, const std::uint8_t* text, std::size_t length) noexcept {
  std::size_t out = 0;
  for (std::size_t in = 0; in < length;) {
    const Lead lead = classify(text[in]);
    const Form form = check(text + in, lead, length - in);
    if (form == Form::kCut) break;
    if (form == Form::kMalformed) {
      to[out++] = '?';
      ++in;
      continue;
    }
    std::memcpy(to + out, text + in, lead.length);
    out += lead.length;
    in += lead.length;
  }
  return out;
}

/// Copies in words, looking at each on its way: operators' names are ASCII. What has been copied is
/// no use where this returns false.
bool copy_if_ascii(char* to, const char* text, std::size_t length) noexcept {
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  std::uint64_t seen = 0;
  const auto copy_word = [&](std::size_t at) {
    std::uint64_t word = 0;
    std::memcpy(&word, text + at, sizeof(word));
    std::memcpy(to + at, &word, sizeof(word));
    seen |= word;
  };
  if (length < sizeof(std::uint64_t)) {
    for (std::size_t i = 0; i < length; ++i) {
      to[i] = text[i];
      seen |= static_cast<std::uint8_t>(text[i]);
    }
    return (seen & kHighBits) == 0;
  }
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= length; at += sizeof(std::uint64_t)) {
    copy_word(at);
  }
  copy_word(length - sizeof(std::uint64_t));  // the rest, and some of it again
  return (seen & kHighBits) == 0;
}

}  // namespace

std::size_t copy_as_utf8(char* to, const char* text, std::size_t length) noexcept {
  if (copy_if_ascii(to, text, length)) return length;
  return copy_checked(to, reinterpret_cast<const std::uint8_t*>(text), length);
}

}  // namespace torchtrace::flush
