#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/option_table.h"

namespace torchtrace::config {

/// The option that a user most likely meant by "section.key": the nearest key of that section, else
/// the same key of another one; nullptr where there is neither. Any case.
const Option* suggest_option(std::string_view section, std::string_view key);

std::vector<std::string_view> section_names();
std::vector<std::string_view> keys_of(std::string_view section);

/// "a, b, c"
std::string join(const std::vector<std::string_view>& names);

}  // namespace torchtrace::config
