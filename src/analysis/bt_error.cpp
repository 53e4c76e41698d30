#include "analysis/bt_error.h"

#include <babeltrace2/babeltrace.h>

#include <vector>

namespace torchtrace::analysis {
namespace {

/// `key=value` details follow the sentence of a libbabeltrace2 log message: "Cannot do x:
/// status=ERROR, comp-addr=0x55...". Returns where they begin, or npos.
std::size_t details_begin(const std::string& message) {
  for (std::size_t colon = message.find(": "); colon != std::string::npos;
       colon = message.find(": ", colon + 2)) {
    const std::size_t word_end = message.find_first_of(" ,=\"`'", colon + 2);
    if (word_end != std::string::npos && message[word_end] == '=') {
      return colon;
    }
  }
  return std::string::npos;
}

/// Causes that only say that libbabeltrace2 called itself: true but of no use to a user.
bool is_plumbing(const std::string& message) {
  static const char* const kBeginnings[] = {"Component initialization method failed",
                                            "Single sink could not consume",
                                            "Component's \"consume\" method failed",
                                            "Failed to get next message",
                                            "Query executor query method failed",
                                            "Component class's \"query\" method failed",
                                            "Failed to create component",
                                            "Cannot create trace for",
                                            "Cannot add stream file"};
  for (const char* beginning : kBeginnings) {
    if (message.rfind(beginning, 0) == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string readable_bt_message(const std::string& message) {
  std::string text = message.substr(0, details_begin(message));
  for (char& c : text) {
    c = c == '\n' ? ' ' : c;
  }
  while (!text.empty() && (text.back() == '.' || text.back() == ' ')) {
    text.pop_back();
  }
  return text;
}

std::string take_bt_error() {
  const bt_error* error = bt_current_thread_take_error();
  if (error == nullptr) {
    return "no cause given";
  }
  std::vector<std::string> causes;
  for (std::uint64_t i = bt_error_get_cause_count(error); i-- > 0;) {
    const bt_error_cause* cause = bt_error_borrow_cause_by_index(error, i);
    causes.push_back(readable_bt_message(bt_error_cause_get_message(cause)));
  }
  bt_error_release(error);
  std::string chain;
  for (const std::string& cause : causes) {
    const bool skip = is_plumbing(cause) && &cause != &causes.back();
    if (!skip && !cause.empty()) {
      chain += (chain.empty() ? "" : ": ") + cause;
    }
  }
  return chain.empty() ? "no cause given" : chain;
}

}  // namespace torchtrace::analysis
