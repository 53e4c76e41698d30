#include "config/key_dots.h"

#include <algorithm>

namespace torchtrace::config {
namespace {

std::size_t end_of_line(std::string_view text, std::size_t at) {
  return std::min(text.find('\n', at), text.size());
}

/// Past the string that begins with `quote` at `at`. Only basic strings ("...") have escapes; only
/// strings in triple quotes go on after the line's end.
std::size_t skip_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string_view triple = quote == '"' ? R"(""")" : "'''";
  const bool is_multi_line = text.substr(at, 3) == triple;
  const std::size_t width = is_multi_line ? 3 : 1;
  for (at += width; at < text.size(); ++at) {
    if (text[at] == '\\' && quote == '"') {
      ++at;
    } else if (text.substr(at, width) == triple.substr(0, width)) {
      return at + width;
    } else if (text[at] == '\n' && !is_multi_line) {
      return at;
    }
  }
  return text.size();
}

}  // namespace

std::size_t count_key_dots(std::string_view text) {
  std::size_t dots = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '#') {
      at = end_of_line(text, at);
    } else if (text[at] == '"' || text[at] == '\'') {
      at = skip_string(text, at);
    } else {
      dots += text[at] == '.' ? 1U : 0U;
      ++at;
    }
  }
  return dots;
}

}  // namespace torchtrace::config
