#pragma once

#include <cstddef>

namespace torchtrace::flush {

/// Copies `length` bytes of `text` to `to`, which has room for as many, and makes valid UTF-8 of
/// them: a byte that is not part of a well-formed character becomes '?', and a character that the
/// end cuts in two is left out. Readers decode strings as UTF-8, and Python's refuse a trace that
/// holds anything else.
/// Returns the bytes copied, at most `length`. No terminator is written.
/// Thread: any. Errors: none.
/// Source: RFC 3629, section 4 (overlong forms and surrogates are malformed).
std::size_t copy_as_utf8(char* to, const char* text, std::size_t length) noexcept;

}  // namespace torchtrace::flush
