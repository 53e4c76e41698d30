#pragma once

#include <string>
#include <string_view>

namespace torchtrace::config {

/// `text` with every byte beyond ASCII, and '%', written as %XX: what toml++ is given. Its test
/// for Unicode blanks (3.3) runs into __builtin_unreachable on most characters beyond ASCII that
/// it meets outside strings, which must not happen inside somebody else's process. Lines stay
/// what they are. UTF-8 is not checked: a path may hold any bytes.
std::string encode_ascii(std::string_view text);

/// The reverse; what is no %XX is left alone. In a TOML string, the escape \u0025 before two
/// digits is taken for one: accepted, as nobody writes a '%' so.
std::string decode_ascii(std::string_view text);

}  // namespace torchtrace::config
