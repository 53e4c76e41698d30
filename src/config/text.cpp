#include "config/text.h"

#include <algorithm>
#include <limits>

namespace torchtrace::config {
namespace {

constexpr char kFirstPrintable = 0x20;
constexpr char kDelete = 0x7f;
constexpr std::string_view kBlanks = " \t";

bool is_control(char c) { return (c >= 0 && c < kFirstPrintable) || c == kDelete; }

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

void append_escaped(std::string& out, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  if (c == '\n') {
    out += "\\n";
  } else if (c == '\t') {
    out += "\\t";
  } else if (is_control(c)) {
    const auto byte = static_cast<unsigned char>(c);
    out += "\\x";
    out += kHex[byte >> 4U];
    out += kHex[byte & 0x0FU];
  } else {
    out += c;
  }
}

/// What two spellings are compared by.
std::string normal(std::string_view text) {
  std::string out = lower(text);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

/// Optimal string alignment distance, by three rows of its table.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

constexpr std::size_t kFar = std::numeric_limits<std::size_t>::max();

std::size_t distance(const std::string& text, const std::string& candidate) {
  constexpr std::size_t kShortestPrefix = 3;
  constexpr std::size_t kPrefixEdits = 2;
  const std::size_t limit = std::max<std::size_t>(1, candidate.size() / 3);
  const bool is_prefix =
      text.size() >= kShortestPrefix && candidate.compare(0, text.size(), text) == 0;
  const std::size_t longer = std::max(text.size(), candidate.size());
  const std::size_t shorter = std::min(text.size(), candidate.size());
  std::size_t edits = kFar;
  // The difference in length bounds the distance from below: no long key is ever compared.
  if (longer - shorter <= limit) edits = edit_distance(text, candidate);
  if (edits > limit) edits = kFar;
  return is_prefix ? std::min(edits, kPrefixEdits) : edits;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) append_escaped(out, c);
  return out;
}

std::string printable(std::string_view text) {
  std::size_t length = std::min(text.size(), kMaxShownBytes);
  const bool is_cut = length < text.size();
  while (is_cut && length > 0 && continues_character(text[length])) --length;
  return escaped(text.substr(0, length)) + (is_cut ? "..." : "");
}

std::string quoted(std::string_view text) { return '"' + printable(text) + '"'; }

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string lower(std::string_view text) {
  std::string out{text};
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string upper(std::string_view text) {
  std::string out{text};
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

std::string_view nearest(std::string_view text, const std::vector<std::string_view>& candidates) {
  // Longer than any candidate plus its limit: nothing to compare, and no copy of a huge key.
  if (text.empty() || text.size() > kMaxShownBytes) return {};
  std::string_view best;
  std::size_t best_edits = kFar;
  for (const std::string_view candidate : candidates) {
    const std::size_t edits = distance(normal(text), normal(candidate));
    if (edits >= best_edits) continue;
    best_edits = edits;
    best = candidate;
  }
  return best;
}

}  // namespace torchtrace::config
