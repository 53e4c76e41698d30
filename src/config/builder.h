#pragma once

#include <string>
#include <string_view>

#include "config/load.h"
#include "config/option_table.h"
#include "config/raw_value.h"

namespace torchtrace::config {

/// A configuration under construction: begins with the defaults, takes settings in the order of
/// their precedence, and lists what is wrong with them in a LoadResult that outlives it.
class Builder {
 public:
  explicit Builder(LoadResult& result);

  /// Stores the setting's value, or lists what is wrong with it.
  void apply(const Option& option, const Setting& setting);

  /// Checks what no option can check by itself, and, if nothing was wrong in all, hands over.
  /// Call it last.
  void finish();

 private:
  std::string& origin(const Option& option);
  std::string describe(std::string_view name);
  void check_together();
  void settle_snapshot();

  LoadResult& result_;
  Config config_;
};

}  // namespace torchtrace::config
