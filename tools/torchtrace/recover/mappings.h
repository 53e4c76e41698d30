#pragma once

namespace torchtrace::cli {

/// `recover --list`: all mappings of the user. Returns the exit code.
int list_mappings(bool is_json);

/// `recover --clean`: removes what dead processes have left, and says what. Returns the exit code.
int clean_mappings();

}  // namespace torchtrace::cli
