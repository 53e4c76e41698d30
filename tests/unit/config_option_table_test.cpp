#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>
#include <tuple>

#include "config/option_table.h"
#include "config/value.h"
#include "config_support.h"

namespace torchtrace::config {
namespace {

std::size_t rows_of(std::string_view section) {
  std::size_t count = 0;
  for (const Option& option : options()) count += section_of(option.name) == section ? 1U : 0U;
  return count;
}

// A structured binding needs exactly as many names as there are members, so a member that is added
// to config.h does not compile here until it is counted, and then fails until it has its row.
TEST(option_table, has_a_row_for_every_member) {
  const Config config;
  const auto& [filters, observer, buffer, output, snapshot, clock, digest] = config;
  const auto& [scopes, include, exclude] = filters;
  const auto& [reregister] = observer;
  const auto& [size, total, policy, spare] = buffer;
  const auto& [sink, directory, max_bytes, when_full, hold, period] = output;
  const auto& [seconds, slow_step, signal] = snapshot;
  const auto& [source] = clock;
  static_cast<void>(std::tie(digest, scopes, include, exclude, reregister, size, total, policy,
                             spare, sink, directory, max_bytes, when_full, hold, period, seconds,
                             slow_step, signal, source));
  EXPECT_EQ(rows_of("filters"), 3U);
  EXPECT_EQ(rows_of("observer"), 1U);
  EXPECT_EQ(rows_of("buffer"), 4U);
  EXPECT_EQ(rows_of("output"), 6U);
  EXPECT_EQ(rows_of("snapshot"), 3U);
  EXPECT_EQ(rows_of("clock"), 1U);
  EXPECT_EQ(options().size(), 18U);
}

TEST(option_table, names_each_option_once_and_in_a_known_section) {
  std::set<std::string> names;
  for (const Option& option : options()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_TRUE(is_section(section_of(option.name))) << option.name;
    EXPECT_EQ(find_option(option.name), &option);
    EXPECT_EQ(key_of(option.name).find_first_not_of("abcdefghijklmnopqrstuvwxyz_"),
              std::string_view::npos);
  }
  EXPECT_EQ(find_option("output"), nullptr);
  EXPECT_EQ(find_option("output.nothing"), nullptr);
}

TEST(option_table, keeps_each_option_in_a_member_of_its_own) {
  const Config defaults = *test::load_environment({}).config;
  for (const Option& option : options()) {
    Config config = defaults;
    Value changed = option.fetch(config);
    changed.number ^= 1U;
    if (option.type == ValueType::kPath) changed.text = "elsewhere";
    if (option.type == ValueType::kPatternList) changed.list = {"aten::*"};
    option.store(config, changed);
    for (const Option& other : options()) {
      const Value now = other.fetch(config);
      const Value before = other.fetch(defaults);
      const bool is_same =
          now.number == before.number && now.text == before.text && now.list == before.list;
      EXPECT_EQ(is_same, &other != &option) << option.name << " and " << other.name;
    }
  }
}

TEST(option_table, has_valid_defaults_that_read_back) {
  for (const Option& option : options()) {
    Value value;
    EXPECT_EQ(parse_value(option, raw_from_text(option, option.default_text), value), "");
    const auto result = test::load_text(test::one_key(option.name, toml_text(option, value)));
    ASSERT_TRUE(result.config) << test::all_problems(result);
    EXPECT_EQ(test::value_of(*result.config, option.name), canonical_text(option, value));
  }
}

TEST(option_table, explains_every_option_and_choice) {
  for (const Option& option : options()) {
    EXPECT_GT(std::string{option.help}.size(), 40U) << option.name;
    EXPECT_EQ(std::string{option.help}.back(), '.') << option.name;
    for (const Choice& choice : option.choices) EXPECT_STRNE(choice.help, "") << choice.name;
  }
}

TEST(option_table, gives_the_variable_of_an_option) {
  EXPECT_EQ(environment_name(*find_option("output.max_bytes")), "TORCHTRACE_OUTPUT_MAX_BYTES");
}

template <typename Enum, typename Get>
void expect_choices(const char* name, const Get& get, std::initializer_list<Enum> values) {
  const Option& option = *find_option(name);
  ASSERT_EQ(option.choices.size(), values.size()) << name;
  std::size_t index = 0;
  for (const Enum value : values) {
    Config config;
    option.store(config, Value{index, {}, {}});
    EXPECT_EQ(get(config), value) << name << " = " << option.choices[index].name;
    ++index;
  }
}

TEST(option_table, lists_choices_in_the_order_of_their_enumerators) {
  expect_choices("output.sink", [](const Config& c) { return c.output.sink; },
                 {SinkKind::kAuto, SinkKind::kLttng, SinkKind::kCtf, SinkKind::kSnapshot,
                  SinkKind::kNone, SinkKind::kOff});
  expect_choices("output.when_full", [](const Config& c) { return c.output.when_full; },
                 {WhenFull::kRotate, WhenFull::kStop});
  expect_choices(
      "buffer.policy", [](const Config& c) { return c.buffer.policy; },
      {OverflowPolicy::kDropNewest, OverflowPolicy::kOverwriteOldest, OverflowPolicy::kBlock});
  expect_choices("clock.source", [](const Config& c) { return c.clock.source; },
                 {ClockSource::kAuto, ClockSource::kTsc, ClockSource::kMonotonic});
}

}  // namespace
}  // namespace torchtrace::config
