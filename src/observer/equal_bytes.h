#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/// Comparing names on the op path: inline, since a call to memcmp would cost more than the
/// comparison of a typical name, and would be a call on the op path. Each reads exactly the bytes
/// that it is asked to compare. What is read here was written long ago, so that wide loads meet no
/// narrower store that is still under way.
namespace torchtrace::observer {

/// True if the `sizeof(Word)` bytes at each agree.
template <class Word>
bool equal_words(const char* left, const char* right) noexcept {
  Word a = 0;
  Word b = 0;
  std::memcpy(&a, left, sizeof(Word));
  std::memcpy(&b, right, sizeof(Word));
  return a == b;
}

/// Same for 16 bytes.
inline bool equal_16_bytes(const char* left, const char* right) noexcept {
#if defined(__SSE2__)
  const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(left));
  const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(right));
  return _mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) == 0xFFFF;
#else
  return equal_words<std::uint64_t>(left, right) && equal_words<std::uint64_t>(left + 8, right + 8);
#endif
}

/// Same for 64 bytes, with one branch; `left` at a multiple of 16.
inline bool equal_64_bytes(const char* left, const char* right) noexcept {
#if defined(__SSE2__)
  const auto equal = [&](int at) {
    return _mm_cmpeq_epi8(_mm_load_si128(reinterpret_cast<const __m128i*>(left + at)),
                          _mm_loadu_si128(reinterpret_cast<const __m128i*>(right + at)));
  };
  const __m128i all =
      _mm_and_si128(_mm_and_si128(equal(0), equal(16)), _mm_and_si128(equal(32), equal(48)));
  return _mm_movemask_epi8(all) == 0xFFFF;
#else
  std::uint64_t differs = 0;
  for (std::size_t at = 0; at < 64; at += 8) {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::memcpy(&a, left + at, 8);
    std::memcpy(&b, right + at, 8);
    differs |= a ^ b;
  }
  return differs == 0;
#endif
}

/// Same for `size` bytes, at least 16: the last step may overlap the one before.
inline bool equal_long(const char* left, const char* right, std::size_t size) noexcept {
  const std::size_t last = size - 16;
  for (std::size_t at = 0; at < last; at += 16) {
    if (!equal_16_bytes(left + at, right + at)) return false;
  }
  return equal_16_bytes(left + last, right + last);
}

/// True if `size` bytes agree.
inline bool equal_bytes(const char* left, const char* right, std::size_t size) noexcept {
  if (size >= 16) return equal_long(left, right, size);
  if (size >= 8) {
    return equal_words<std::uint64_t>(left, right) &&
           equal_words<std::uint64_t>(left + size - 8, right + size - 8);
  }
  if (size >= 4) {
    return equal_words<std::uint32_t>(left, right) &&
           equal_words<std::uint32_t>(left + size - 4, right + size - 4);
  }
  for (std::size_t at = 0; at < size; ++at) {
    if (left[at] != right[at]) return false;
  }
  return true;
}

}  // namespace torchtrace::observer
