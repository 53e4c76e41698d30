#pragma once

#include <string>

namespace torchtrace::config {

/// The sample file: every option of the table, commented out, with its help and default. Loading it
/// as it stands gives the defaults. Source of config/torchtrace.toml.
std::string sample_toml();

/// The same as a page of documentation. Source of docs/configuration.md.
std::string reference_markdown();

}  // namespace torchtrace::config
