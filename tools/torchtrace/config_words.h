#pragma once

#include <string>

#include "config/config.h"

namespace torchtrace::cli {

/// What this configuration records, where it goes and what happens when there is too much of it: a
/// few sentences, one per line, for a person.
std::string config_in_words(const config::Config& config);

}  // namespace torchtrace::cli
