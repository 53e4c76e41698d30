#pragma once

#include <string>

namespace torchtrace::cli {

/// Text out of a mapping as it may be sent to a terminal: control characters become '?'.
inline std::string printable(std::string text) {
  for (char& letter : text) {
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F) letter = '?';
  }
  return text;
}

}  // namespace torchtrace::cli
