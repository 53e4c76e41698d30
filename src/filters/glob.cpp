#include "filters/glob.h"

namespace torchtrace::filters {

bool matches_glob(std::string_view pattern, std::string_view text) noexcept {
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t at = 0;
  std::size_t star = kNone;      // the last one met
  std::size_t star_ends_at = 0;  // in the text: it stands for all up to here
  for (std::size_t read = 0; read < text.size();) {
    const bool has_more = at < pattern.size();
    if (has_more && pattern[at] == '*') {
      star = at++;
      star_ends_at = read;
    } else if (has_more && (pattern[at] == '?' || pattern[at] == text[read])) {
      ++at;
      ++read;
    } else if (star != kNone) {
      // Let the star stand for one character more. Earlier stars need not be tried again.
      at = star + 1;
      read = ++star_ends_at;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

}  // namespace torchtrace::filters
