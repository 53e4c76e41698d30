#pragma once

#include <iosfwd>
#include <optional>

#include "analysis/text_table.h"
#include "recovery/recovery.h"

namespace torchtrace::cli {

/// What is said of a recovered process.
struct RecoverReport {
  const recovery::Recovery& recovery;
  std::string mapping;  ///< Path of its folder.
  std::optional<recovery::Written> written;
};

/// "What was it doing", for people.
void write_moments_text(const RecoverReport& report, const analysis::TextStyle& style,
                        std::ostream& out);

/// Schema torchtrace.recover/1. Times are CLOCK_MONOTONIC in ns.
void write_moments_json(const RecoverReport& report, std::ostream& out);

}  // namespace torchtrace::cli
