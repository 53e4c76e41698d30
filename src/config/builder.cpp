#include "config/builder.h"

#include <cstddef>
#include <utility>

#include "config/digest.h"
#include "config/value.h"

namespace torchtrace::config {

namespace {

constexpr const char* kDefault = "default";

}  // namespace

Builder::Builder(LoadResult& result) : result_{result} {
  for (const Option& option : options()) {
    Value value;
    parse_value(option, raw_from_text(option, option.default_text), value);
    option.store(config_, value);
    result_.origins.emplace_back(kDefault);
  }
}

void Builder::apply(const Option& option, const Setting& setting) {
  Value value;
  const std::string wrong = parse_value(option, setting.value, value);
  if (wrong.empty()) {
    option.store(config_, value);
    origin(option) = setting.where;
    return;
  }
  const bool is_variable = setting.line == 0;
  const std::string what =
      is_variable ? "environment: " + setting.where : setting.where + ": " + option.name;
  result_.problems.push_back({what + " = " + setting.value.written + ": " + wrong});
}

void Builder::finish() {
  if (result_.problems.empty()) check_together();
  if (!result_.problems.empty()) return;
  config_.digest = digest(config_);
  result_.config = std::move(config_);
}

std::string& Builder::origin(const Option& option) {
  return result_.origins[static_cast<std::size_t>(&option - options().begin())];
}

/// `buffer.total = "64KiB" (cfg.toml:3)`
std::string Builder::describe(std::string_view name) {
  const Option& option = *find_option(name);
  const std::string value = toml_text(option, option.fetch(config_));
  return std::string{name} + " = " + value + " (" + origin(option) + ')';
}

/// A flight recorder overwrites, and its rings are as large as the time they are to hold.
void Builder::settle_snapshot() {
  constexpr std::uint64_t kOperatorsPerSecond = 50'000;
  constexpr std::uint64_t kSecond_ns = 1'000'000'000;
  std::string& policy_origin = origin(*find_option("buffer.policy"));
  if (config_.buffer.policy != OverflowPolicy::kOverwriteOldest && policy_origin != kDefault) {
    result_.problems.push_back({describe("buffer.policy") + " does not go with " +
                                describe("output.sink") + ", which overwrites the oldest"});
    return;
  }
  if (policy_origin == kDefault) policy_origin = "output.sink";
  config_.buffer.policy = OverflowPolicy::kOverwriteOldest;
  const Option& size = *find_option("buffer.size");
  if (origin(size) != kDefault) return;
  const std::uint64_t wanted =
      config_.snapshot.seconds_ns / kSecond_ns * kOperatorsPerSecond * sizeof(core::Record);
  config_.buffer.size_bytes = size.minimum;
  while (config_.buffer.size_bytes < wanted) config_.buffer.size_bytes *= 2;
  origin(size) = "snapshot.seconds";
}

void Builder::check_together() {
  if (config_.output.sink == SinkKind::kSnapshot) settle_snapshot();
  if (config_.buffer.total_bytes >= config_.buffer.size_bytes) return;
  result_.problems.push_back({describe("buffer.total") + " is less than " +
                              describe("buffer.size") + ": not even one ring would fit"});
}

}  // namespace torchtrace::config
