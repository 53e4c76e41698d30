#pragma once

#include <string_view>
#include <vector>

#include "config/load.h"
#include "config/raw_value.h"

namespace torchtrace::config {

/// The options given by environment variables, in the option table's order. Empty ones count as
/// unset.
std::vector<Setting> read_environment(const GetEnv& get_env);

/// Searches `environ_block` (may be nullptr) for `TORCHTRACE_*` names that are no option: those
/// that begin with a section are problems, others are notes.
void check_names(const char* const* environ_block, LoadResult& result);

/// The variable's value; empty where it is unset or `get_env` is.
std::string_view variable(const GetEnv& get_env, const char* name);

}  // namespace torchtrace::config
