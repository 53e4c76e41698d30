#pragma once

namespace torchtrace::core {

/// Moves an open file to a number where it is in nobody's way, and returns that number; closes `fd`
/// unless it has to stay.
///
/// Not a standard stream, without which the program may have been started: it would write its
/// output into our file. And high, below the usual soft limit of 1024: a program that closes all
/// descriptors gets the lowest free ones for what it opens next. A flock belongs to the open file
/// and moves too.
int move_descriptor(int fd) noexcept;

/// Whether the program has all three standard streams. If not, the next file that any of its
/// threads opens becomes one, if only for a moment: what can be left undone is then left undone.
bool has_standard_streams() noexcept;

}  // namespace torchtrace::core
