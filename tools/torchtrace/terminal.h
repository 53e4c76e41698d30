#pragma once

#include <iosfwd>

#include "analysis/text_table.h"

namespace torchtrace::cli {

/// How text for people is shown on `out`: the width of the terminal where `out` is stdout on one,
/// else unlimited, so that files and pipes get whole names; colours only on a terminal that has
/// them, and not where NO_COLOR is set (https://no-color.org).
analysis::TextStyle style_for(const std::ostream& out);

}  // namespace torchtrace::cli
