#pragma once

#include <string_view>

namespace torchtrace::filters {

/// True if the whole of `text` fits `pattern`: `*` stands for any characters, none included, `?`
/// for one, all others for themselves. No escapes: no operator's name has a `*` or `?`.
///
/// Our own, and not fnmatch: that one knows brackets, which occur in names, and may allocate, which
/// a callback of PyTorch's in a forked child must not. Time: at most length times length. Thread:
/// any.
bool matches_glob(std::string_view pattern, std::string_view text) noexcept;

}  // namespace torchtrace::filters
