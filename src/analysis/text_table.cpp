#include "analysis/text_table.h"

#include <algorithm>
#include <numeric>
#include <ostream>

namespace torchtrace::analysis {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kMinFirstColumn = 16;

/// Characters of UTF-8 text: its bytes that do not continue another.
std::size_t length(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  }));
}

/// The first (or last) `count` characters of UTF-8 text.
std::string first_characters(const std::string& text, std::size_t count) {
  std::size_t at = 0;
  for (std::size_t seen = 0; at < text.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(text[at]) & 0xc0U) != 0x80U;
    if (begins && seen++ == count) {
      break;
    }
  }
  return text.substr(0, at);
}

std::string last_characters(const std::string& text, std::size_t count) {
  return text.substr(first_characters(text, length(text) - count).size());
}

std::string pad(const std::string& text, std::size_t width, bool left) {
  const std::size_t used = length(text);
  const std::string blanks(width > used ? width - used : 0, ' ');
  return left ? text + blanks : blanks + text;
}

std::string escape(const char* code, const std::string& text, const TextStyle& style) {
  return style.color ? "\033[" + std::string(code) + "m" + text + "\033[0m" : text;
}

}  // namespace

std::string shorten(const std::string& text, std::size_t width) {
  constexpr std::size_t kDots = 2;
  const std::size_t used = length(text);
  if (used <= width) {
    return text;
  }
  if (width <= kDots) {
    return first_characters(text, width);
  }
  const std::size_t tail = (width - kDots) / 2;
  return first_characters(text, width - kDots - tail) + ".." + last_characters(text, tail);
}

std::string bold(const std::string& text, const TextStyle& style) {
  return escape("1", text, style);
}

std::string dim(const std::string& text, const TextStyle& style) {
  return escape("2", text, style);
}

void TextTable::print(std::ostream& out, const TextStyle& style) const {
  const std::vector<std::size_t> widths = column_widths(style.width);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::string line = format_row(rows_[i], widths);
    out << (i == 0 ? bold(line, style) : line) << '\n';
  }
}

std::vector<std::size_t> TextTable::column_widths(std::size_t limit) const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], length(row[column]));
    }
  }
  const std::size_t total =
      std::accumulate(widths.begin(), widths.end(), std::size_t{0}) + kGap * (widths.size() - 1);
  if (limit != 0 && total > limit) {
    const std::size_t excess = total - limit;
    const std::size_t least = std::min(widths[0], kMinFirstColumn);
    widths[0] = widths[0] > excess ? std::max(widths[0] - excess, least) : least;
  }
  return widths;
}

std::string TextTable::format_row(const std::vector<std::string>& row,
                                  const std::vector<std::size_t>& widths) const {
  std::string line;
  for (std::size_t column = 0; column < row.size(); ++column) {
    const bool left =
        std::find(left_aligned_.begin(), left_aligned_.end(), column) != left_aligned_.end();
    const std::string gap(column == 0 ? 0 : kGap, ' ');
    line += gap + pad(column == 0 ? shorten(row[0], widths[0]) : row[column], widths[column], left);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace torchtrace::analysis
