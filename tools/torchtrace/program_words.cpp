#include "program_words.h"

namespace torchtrace::cli {
namespace {

/// Stands before a protected word. A word of a program that begins with it gets a second one.
constexpr char kMark = '\x01';

bool needs_mark(const std::string& word) {
  return !word.empty() && (word.front() == '[' || word.front() == kMark);
}

}  // namespace

std::string protected_word(const std::string& word) {
  return needs_mark(word) ? kMark + word : word;
}

std::string unprotected(const std::string& word) {
  return !word.empty() && word.front() == kMark ? word.substr(1) : word;
}

std::vector<std::string> reversed_command_line(int argc, char** argv) {
  const bool is_run = argc > 1 && std::string(argv[1]) == "run";
  std::vector<std::string> words;
  for (int i = argc - 1; i > 0; --i) {
    words.push_back(is_run && i > 1 ? protected_word(argv[i]) : argv[i]);
  }
  return words;
}

}  // namespace torchtrace::cli
