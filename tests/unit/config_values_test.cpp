// Every option: bounds on both sides, allowed values, types, and the environment.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "config_support.h"

namespace torchtrace::config {
namespace {

using test::load_text;
using test::one_key;
using test::value_of;

struct Case {
  const char* option;
  const char* toml;      ///< To the right of the '='.
  const char* expected;  ///< Canonical value, or the end of the message.
};

std::string title(const testing::TestParamInfo<Case>& info) {
  std::string name = std::to_string(info.index) + '_';
  for (const char c : std::string{info.param.option}) name += c == '.' ? '_' : c;
  return name;
}

class ConfigAccepts : public testing::TestWithParam<Case> {};

TEST_P(ConfigAccepts, value) {
  const Case& c = GetParam();
  const LoadResult result = load_text(one_key(c.option, c.toml));
  ASSERT_TRUE(result.config) << test::all_problems(result);
  EXPECT_EQ(value_of(*result.config, c.option), c.expected);
}

constexpr Case kAccepted[] = {
    {"filters.scopes", R"(["user_scope"])", "user_scope"},
    {"filters.scopes", R"(["user_scope", "function"])", "function,user_scope"},
    {"filters.scopes",
     R"(["function", "backward_function", "torchscript_function", "kernel_function_dtype",
           "custom_class", "build_feature", "lite_interpreter", "user_scope",
           "static_runtime_op", "static_runtime_model"])",
     "function,backward_function,torchscript_function,kernel_function_dtype,custom_class,"
     "build_feature,lite_interpreter,user_scope,static_runtime_op,static_runtime_model"},
    {"filters.include", "[]", ""},
    {"filters.include", R"(["aten::*", "a,b", 'say "hi"'])", R"("aten::*","a,b","say \"hi\"")"},
    {"filters.exclude", R"(["*Backward?"])", R"("*Backward?")"},
    {"observer.reregister", "true", "true"},
    {"observer.reregister", "false", "false"},
    {"buffer.size", R"("64KiB")", "65536"},
    {"buffer.size", R"("256MiB")", "268435456"},
    {"buffer.size", "131072", "131072"},
    {"buffer.size", R"("131072")", "131072"},
    {"buffer.size", R"("0.5MiB")", "524288"},
    {"buffer.total", R"("2MiB")", "2097152"},
    {"buffer.total", R"("64GiB")", "68719476736"},
    {"buffer.total", R"("100MB")", "100000000"},
    {"buffer.policy", R"("drop_newest")", "drop_newest"},
    {"buffer.policy", R"("overwrite_oldest")", "overwrite_oldest"},
    {"buffer.policy", R"("block")", "block"},
    {"buffer.spare", "0", "0"},
    {"buffer.spare", "64", "64"},
    {"output.sink", R"("auto")", "auto"},
    {"output.sink", R"("lttng")", "lttng"},
    {"output.sink", R"("ctf")", "ctf"},
    {"output.sink", R"("snapshot")", "snapshot"},
    {"output.sink", R"("none")", "none"},
    {"output.sink", R"("off")", "off"},
    {"output.directory", R"("")", ""},
    {"output.directory", R"("/tmp/tr\u00e4ce \"x\"")", "/tmp/tr\u00e4ce \"x\""},
    {"output.directory", R"('C:\~ok')", "C:\\~ok"},
    {"output.max_bytes", R"("1MiB")", "1048576"},
    {"output.max_bytes", R"("16384GiB")", "17592186044416"},
    {"output.when_full", R"("rotate")", "rotate"},
    {"output.when_full", R"("stop")", "stop"},
    {"output.hold", R"("1ms")", "1000000"},
    {"output.hold", R"("10s")", "10000000000"},
    {"output.period", R"("1ms")", "1000000"},
    {"output.period", R"("1s")", "1000000000"},
    {"snapshot.seconds", R"("300s")", "300000000000"},
    {"snapshot.slow_step", R"("0s")", "0"},
    {"snapshot.signal", R"("none")", "none"},
    {"clock.source", R"("auto")", "auto"},
    {"clock.source", R"("tsc")", "tsc"},
    {"clock.source", R"("monotonic")", "monotonic"},
};
INSTANTIATE_TEST_SUITE_P(values, ConfigAccepts, testing::ValuesIn(kAccepted), title);

class ConfigRefuses : public testing::TestWithParam<Case> {};

TEST_P(ConfigRefuses, value) {
  const Case& c = GetParam();
  const test::TemporaryFile file{one_key(c.option, c.toml)};
  const LoadResult result = load_file(file.path());
  EXPECT_FALSE(result.config);
  ASSERT_EQ(result.problems.size(), 1U) << test::all_problems(result);
  EXPECT_EQ(result.problems[0].text,
            file.path() + ":2: " + c.option + " = " + c.toml + ": " + c.expected);
}

constexpr Case kRefused[] = {
    {"filters.scopes", "\"function\"", "a string, expected a list such as [\"function\"]"},
    {"filters.scopes", "[]",
     "an empty list, expected at least one of function, backward_function, "
     "torchscript_function, kernel_function_dtype, custom_class, build_feature, "
     "lite_interpreter, user_scope, static_runtime_op, static_runtime_model"},
    {"filters.scopes", R"(["function", "function"])", "\"function\" is there twice"},
    {"filters.scopes", "[3]",
     "an item is an integer, expected one of function, backward_function, "
     "torchscript_function, kernel_function_dtype, custom_class, build_feature, "
     "lite_interpreter, user_scope, static_runtime_op, static_runtime_model"},
    {"filters.scopes", R"(["user_scpe"])",
     "\"user_scpe\" is not one of function, backward_function, "
     "torchscript_function, kernel_function_dtype, custom_class, build_feature, "
     "lite_interpreter, user_scope, static_runtime_op, static_runtime_model; "
     "did you mean \"user_scope\"?"},
    {"filters.include", "\"aten::*\"",
     "a string, expected a list of patterns such as [\"aten::*\"]"},
    {"filters.include", "[1]", "an item is an integer, expected a pattern in quotes"},
    {"filters.exclude", R"(["a", ""])", "an item is empty, and fits no name"},
    {"observer.reregister", R"("true")", "a string, expected true or false"},
    {"buffer.size", R"("32KiB")", "below the minimum of 64KiB"},
    {"buffer.size", R"("65535B")", "below the minimum of 64KiB"},
    {"buffer.size", R"("2GiB")", "above the maximum of 1GiB"},
    {"buffer.size", R"("1073741825")", "above the maximum of 1GiB"},
    {"buffer.size", R"("3MiB")", "not a power of two; the nearest are 2MiB and 4MiB"},
    {"buffer.size", R"("100KiB")", "not a power of two; the nearest are 64KiB and 128KiB"},
    {"buffer.size", "-1", "below the minimum of 64KiB"},
    {"buffer.size", "1.5", "a floating-point number, expected a size such as \"4MiB\""},
    {"buffer.size", "true", "a boolean, expected a size such as \"4MiB\""},
    {"buffer.size", R"(["1MiB"])", "a list, expected a size such as \"4MiB\""},
    {"buffer.size", "1979-05-27", "a date or time, expected a size such as \"4MiB\""},
    {"buffer.size", "{ a = 1 }", "a table, expected a size such as \"4MiB\""},
    {"buffer.size", R"("")", "expected a size such as \"4MiB\""},
    {"buffer.total", R"("65535")", "below the minimum of 64KiB"},
    {"buffer.total", R"("68719476737")", "above the maximum of 64GiB"},
    {"buffer.total", "inf", "a floating-point number, expected a size such as \"4MiB\""},
    {"buffer.policy", R"("grow")", "not one of drop_newest, overwrite_oldest, block"},
    {"buffer.policy", R"("drop-newest")",
     "not one of drop_newest, overwrite_oldest, block; did you mean \"drop_newest\"?"},
    {"buffer.spare", "65", "above the maximum of 64"},
    {"buffer.spare", "-1", "not a whole number"},
    {"buffer.spare", R"("1")", "a string, expected a whole number"},
    {"output.sink", R"("ltng")",
     "not one of auto, lttng, ctf, snapshot, none, off; did you mean \"lttng\"?"},
    {"output.sink", R"("LTTNG")",
     "not one of auto, lttng, ctf, snapshot, none, off; did you mean \"lttng\"?"},
    {"output.sink", "false", "a boolean, expected one of auto, lttng, ctf, snapshot, none, off"},
    {"output.sink", R"("")", "not one of auto, lttng, ctf, snapshot, none, off"},
    {"output.directory", "3", "an integer, expected a path in quotes"},
    {"output.directory", R"("~/traces")", "a leading ~ is not expanded: write the whole path"},
    {"output.directory", R"("a\u0000b")", "it holds a zero byte"},
    {"output.max_bytes", R"("1048575")", "below the minimum of 1MiB"},
    {"output.max_bytes", R"("17592186044417")", "above the maximum of 16384GiB"},
    {"output.when_full", R"("block")", "not one of rotate, stop"},
    {"output.hold", R"("999us")", "below the minimum of 1ms"},
    {"output.hold", R"("10.001s")", "above the maximum of 10s"},
    {"output.hold", "50", "a duration needs a unit (ns us ms s min h), such as \"10ms\""},
    {"output.hold", R"("50")", "a duration needs a unit (ns us ms s min h), such as \"10ms\""},
    {"output.hold", "0.5", "a floating-point number, expected a duration such as \"10ms\""},
    {"output.period", R"("0.5ms")", "below the minimum of 1ms"},
    {"output.period", R"("1001ms")", "above the maximum of 1s"},
    {"snapshot.seconds", R"("500ms")", "below the minimum of 1s"},
    {"snapshot.slow_step", R"("2h")", "above the maximum of 1h"},
    {"snapshot.signal", R"("SIGHUP")", "not one of SIGUSR2, SIGUSR1, none"},
    {"clock.source", R"("monotonc")",
     "not one of auto, tsc, monotonic; did you mean \"monotonic\"?"},
};
INSTANTIATE_TEST_SUITE_P(values, ConfigRefuses, testing::ValuesIn(kRefused), title);

TEST(config_values, are_tested_both_ways_for_every_option) {
  for (const Option& option : options()) {
    std::size_t good = 0;
    std::size_t bad = 0;
    for (const Case& c : kAccepted) good += std::string{c.option} == option.name ? 1U : 0U;
    for (const Case& c : kRefused) bad += std::string{c.option} == option.name ? 1U : 0U;
    EXPECT_GE(good, 1U) << option.name;
    EXPECT_GE(bad, 1U) << option.name;
  }
}

TEST(config_values, booleans_come_from_the_environment_too) {
  const auto with = [](const char* text) {
    return test::load_environment({{"TORCHTRACE_OBSERVER_REREGISTER", text}});
  };
  EXPECT_EQ(value_of(*with("false").config, "observer.reregister"), "false");
  EXPECT_EQ(value_of(*with("true").config, "observer.reregister"), "true");
  const LoadResult wrong = with("yes");
  ASSERT_EQ(wrong.problems.size(), 1U);
  EXPECT_NE(wrong.problems[0].text.find("not true or false"), std::string::npos)
      << wrong.problems[0].text;
}

TEST(config_values, have_the_promised_defaults) {
  const LoadResult result = test::load_environment({});
  ASSERT_TRUE(result.config);
  const std::vector<std::pair<std::string, std::string>> expected{
      {"filters.scopes", "function,backward_function,user_scope"},
      {"filters.include", ""},
      {"filters.exclude", ""},
      {"observer.reregister", "true"},
      {"buffer.size", "2097152"},
      {"buffer.total", "268435456"},
      {"buffer.policy", "drop_newest"},
      {"buffer.spare", "1"},
      {"output.sink", "auto"},
      {"output.directory", ""},
      {"output.max_bytes", "2147483648"},
      {"output.when_full", "rotate"},
      {"output.hold", "50000000"},
      {"output.period", "10000000"},
      {"snapshot.seconds", "5000000000"},
      {"snapshot.slow_step", "0"},
      {"snapshot.signal", "SIGUSR2"},
      {"clock.source", "auto"}};
  EXPECT_EQ(expected.size(), options().size());
  for (const auto& [name, value] : expected) {
    EXPECT_EQ(value_of(*result.config, name), value) << name;
  }
}

}  // namespace
}  // namespace torchtrace::config
