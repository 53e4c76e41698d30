#pragma once

#include <string>

namespace torchtrace::analysis {

/// Takes libbabeltrace2's error of this thread, and returns its cause chain as one clause, the
/// outer cause first and the root last; "no cause given" where there is none. Addresses and other
/// details of libbabeltrace2's own objects are left out.
/// Thread: the one in which the libbabeltrace2 function failed.
std::string take_bt_error();

/// The part of one libbabeltrace2 message that says something to a user. Exposed for tests.
std::string readable_bt_message(const std::string& message);

}  // namespace torchtrace::analysis
