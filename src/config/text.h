#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace torchtrace::config {

/// Longest piece of the user's own text that a message repeats, in bytes.
inline constexpr std::size_t kMaxShownBytes = 80;

/// `text` fit for one line of a terminal: control characters as \n, \t or \x1b.
std::string escaped(std::string_view text);

/// The same, cut after `kMaxShownBytes`.
std::string printable(std::string_view text);

/// `text` in double quotes, printable.
std::string quoted(std::string_view text);

/// Without blanks at both ends.
std::string_view trim(std::string_view text);

/// ASCII only, whatever the host's locale.
std::string lower(std::string_view text);
std::string upper(std::string_view text);

/// The candidate that a user most likely meant by `text`, or an empty view where none is near:
/// fewest edits (insert, delete, replace, swap neighbours), at most a third of the length; case and
/// '-' for '_' cost nothing; the beginning of a candidate counts as two edits.
std::string_view nearest(std::string_view text, const std::vector<std::string_view>& candidates);

}  // namespace torchtrace::config
