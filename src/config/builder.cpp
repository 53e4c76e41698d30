#include "config/builder.h"

#include <cstddef>
#include <utility>

#include "config/digest.h"
#include "config/value.h"

namespace torchtrace::config {

Builder::Builder(LoadResult& result) : result_{result} {
  for (const Option& option : options()) {
    Value value;
    parse_value(option, raw_from_text(option, option.default_text), value);
    option.store(config_, value);
    result_.origins.emplace_back("default");
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

void Builder::check_together() {
  if (config_.buffer.total_bytes >= config_.buffer.size_bytes) return;
  result_.problems.push_back({describe("buffer.total") + " is less than " +
                              describe("buffer.size") + ": not even one ring would fit"});
}

}  // namespace torchtrace::config
