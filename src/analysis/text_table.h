#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

namespace torchtrace::analysis {

/// How text is shown.
struct TextStyle {
  std::size_t width = 0;  ///< Of the terminal in characters; 0: do not shorten anything.
  bool color = false;
};

/// A table for people: the first column is text and gives way where the table would be too wide,
/// the others are numbers, aligned to the right.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) : rows_{std::move(header)} {}

  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void set_left_aligned(std::size_t column) { left_aligned_.push_back(column); }

  void print(std::ostream& out, const TextStyle& style) const;

 private:
  std::vector<std::size_t> column_widths(std::size_t limit) const;
  std::string format_row(const std::vector<std::string>& row,
                         const std::vector<std::size_t>& widths) const;

  std::vector<std::vector<std::string>> rows_;  ///< The first one is the header.
  std::vector<std::size_t> left_aligned_ = {0};
};

/// `text` cut to `width` characters, with ".." in place of its middle; names differ most at their
/// ends.
std::string shorten(const std::string& text, std::size_t width);

/// `text` in bold (or dim) where `style` has colours.
std::string bold(const std::string& text, const TextStyle& style);
std::string dim(const std::string& text, const TextStyle& style);

}  // namespace torchtrace::analysis
