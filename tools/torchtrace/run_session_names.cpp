#include "run_session_names.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <random>
#include <regex>

namespace torchtrace::cli {
namespace {

constexpr const char* kPrefix = "torchtrace-run-";

}  // namespace

std::string new_run_session_name() {
  std::random_device random;
  std::array<char, 16> suffix{};
  std::snprintf(suffix.data(), suffix.size(), "%08x", random());
  return kPrefix + std::to_string(getpid()) + '-' + suffix.data();
}

std::vector<std::string> run_sessions_in(const std::string& list) {
  const std::regex pattern(std::string(kPrefix) + R"(\d+-[0-9a-f]{8}\b)");
  std::vector<std::string> names;
  for (std::sregex_iterator match(list.begin(), list.end(), pattern), end; match != end; ++match) {
    names.push_back(match->str());
  }
  return names;
}

}  // namespace torchtrace::cli
