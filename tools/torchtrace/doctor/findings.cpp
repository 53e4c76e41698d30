#include "doctor/findings.h"

#include <algorithm>

namespace torchtrace::cli {

std::size_t Findings::count(Verdict verdict) const {
  return static_cast<std::size_t>(
      std::count_if(all_.begin(), all_.end(),
                    [verdict](const Finding& finding) { return finding.verdict == verdict; }));
}

}  // namespace torchtrace::cli
