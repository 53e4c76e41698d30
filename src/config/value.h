#pragma once

#include <string>
#include <string_view>

#include "config/option_table.h"
#include "config/raw_value.h"

namespace torchtrace::config {

/// Reads what the user gave as a value of `option`, and checks type, bounds and allowed values.
/// Thread: any. Errors: returns what is wrong, as the end of a sentence; empty where nothing is.
std::string parse_value(const Option& option, const RawValue& raw, Value& out);

/// The text of an environment variable, or of the option table's default, as a raw value: the only
/// place that knows that lists are separated by commas.
RawValue raw_from_text(const Option& option, std::string_view text);

/// `value` as it stands to the right of the '=' in a TOML file; parse_value reads it back.
std::string toml_text(const Option& option, const Value& value);

/// `value` in base units and without decoration, for hashing: "1048576", "function,user_scope".
std::string canonical_text(const Option& option, const Value& value);

/// What a value of this type looks like, for messages and documentation: "a size such as "4MiB"".
std::string describe_type(const Option& option);

/// The bounds of a size or duration in words, "from 64KiB to 1GiB, a power of two"; else empty.
std::string describe_bounds(const Option& option);

}  // namespace torchtrace::config
