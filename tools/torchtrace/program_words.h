#pragma once

#include <string>
#include <vector>

namespace torchtrace::cli {

/// CLI11 takes a word like `[1,2]` for a list and splits it, but the words of a program that is to
/// be run must arrive as they are. Such words are given a mark before parsing, which `unprotected`
/// takes away.
std::string protected_word(const std::string& word);
std::string unprotected(const std::string& word);

/// The words of a command line as CLI11 takes them, the last one first and without the program's
/// name; those behind the subcommand `run` are protected.
std::vector<std::string> reversed_command_line(int argc, char** argv);

}  // namespace torchtrace::cli
