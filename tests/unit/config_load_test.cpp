// Where values come from, and which one counts.

#include <gtest/gtest.h>

#include <new>
#include <string>
#include <utility>
#include <vector>

#include "config/load.h"
#include "config_support.h"

namespace torchtrace::config {
namespace {

using test::Environment;
using test::load_environment;
using test::load_text;
using test::TemporaryFile;
using test::value_of;

std::string origin_of(const LoadResult& result, const std::string& name) {
  return result.origins[static_cast<std::size_t>(find_option(name) - options().begin())];
}

TEST(config_load, needs_neither_file_nor_environment) {
  const LoadResult result = load({}, nullptr);
  ASSERT_TRUE(result.config) << test::all_problems(result);
  EXPECT_TRUE(result.notes.empty());
  for (const Option& option : options()) EXPECT_EQ(origin_of(result, option.name), "default");
}

TEST(config_load, reads_the_file_that_torchtrace_config_names) {
  const TemporaryFile file{"[output]\n\nhold = \"20ms\"\n"};
  const LoadResult result = load_environment({{"TORCHTRACE_CONFIG", file.path()}});
  ASSERT_TRUE(result.config) << test::all_problems(result);
  EXPECT_EQ(result.config->output.hold_ns, 20'000'000U);
  EXPECT_EQ(origin_of(result, "output.hold"), file.path() + ":3");
  EXPECT_EQ(origin_of(result, "output.period"), "default");
}

TEST(config_load, lets_the_environment_beat_the_file) {
  const TemporaryFile file{"[output]\nhold = \"20ms\"\nperiod = \"5ms\"\n"};
  const LoadResult result =
      load_environment({{"TORCHTRACE_CONFIG", file.path()}, {"TORCHTRACE_OUTPUT_HOLD", "30ms"}});
  ASSERT_TRUE(result.config) << test::all_problems(result);
  EXPECT_EQ(result.config->output.hold_ns, 30'000'000U);
  EXPECT_EQ(result.config->output.period_ns, 5'000'000U);
  EXPECT_EQ(origin_of(result, "output.hold"), "TORCHTRACE_OUTPUT_HOLD");
}

TEST(config_load, takes_every_option_from_the_environment) {
  const std::vector<std::pair<std::string, std::string>> values{
      {"filters.scopes", "function, user_scope"},
      {"filters.include", "aten::*, *Backward0"},
      {"filters.exclude", "aten::add*"},
      {"observer.reregister", "false"},
      {"buffer.size", "4MiB"},
      {"buffer.total", "64MiB"},
      {"buffer.policy", "drop_newest"},
      {"buffer.spare", "3"},
      {"output.sink", "ctf"},
      {"output.directory", "/tmp/a,b"},
      {"output.max_bytes", "4GiB"},
      {"output.when_full", "stop"},
      {"output.hold", "100ms"},
      {"output.period", "20ms"},
      {"snapshot.seconds", "10s"},
      {"snapshot.slow_step", "250ms"},
      {"snapshot.signal", "SIGUSR1"},
      {"clock.source", "monotonic"}};
  ASSERT_EQ(values.size(), options().size());
  Environment environment;
  for (const auto& [name, value] : values) {
    environment[environment_name(*find_option(name))] = value;
  }
  const LoadResult result = load_environment(environment);
  ASSERT_TRUE(result.config) << test::all_problems(result);
  EXPECT_EQ(value_of(*result.config, "filters.scopes"), "function,user_scope");
  EXPECT_FALSE(result.config->observer.reregister);
  EXPECT_EQ(result.config->buffer.size_bytes, 4U << 20U);
  EXPECT_EQ(result.config->buffer.total_bytes, 64U << 20U);
  EXPECT_EQ(result.config->output.sink, SinkKind::kCtf);
  EXPECT_EQ(result.config->output.directory, "/tmp/a,b");
  EXPECT_EQ(result.config->output.max_bytes, 4ULL << 30U);
  EXPECT_EQ(result.config->output.when_full, WhenFull::kStop);
  EXPECT_EQ(result.config->output.hold_ns, 100'000'000U);
  EXPECT_EQ(result.config->output.period_ns, 20'000'000U);
  EXPECT_EQ(result.config->clock.source, ClockSource::kMonotonic);
  for (const Option& option : options()) {
    EXPECT_EQ(origin_of(result, option.name), environment_name(option));
  }
}

TEST(config_load, counts_empty_variables_as_unset) {
  const LoadResult result =
      load_environment({{"TORCHTRACE_CONFIG", ""}, {"TORCHTRACE_OUTPUT_HOLD", ""}});
  ASSERT_TRUE(result.config) << test::all_problems(result);
  EXPECT_EQ(origin_of(result, "output.hold"), "default");
}

TEST(config_load, reports_the_variable_and_its_value) {
  const LoadResult result = load_environment(
      {{"TORCHTRACE_BUFFER_SIZE", "3MiB"}, {"TORCHTRACE_FILTERS_SCOPES", "function,,"}});
  EXPECT_FALSE(result.config);
  ASSERT_EQ(result.problems.size(), 2U);
  EXPECT_EQ(result.problems[0].text.find(
                "environment: TORCHTRACE_FILTERS_SCOPES = \"function,,\": \"\" is not one of"),
            0U);
  EXPECT_EQ(result.problems[1].text,
            "environment: TORCHTRACE_BUFFER_SIZE = \"3MiB\": not a power of two; the nearest are "
            "2MiB and 4MiB");
}

LoadResult load_names(std::vector<const char*> block) {
  block.push_back(nullptr);
  return load({}, block.data());
}

TEST(config_load, finds_misspelt_variables_of_a_section) {
  const LoadResult result = load_names({"PATH=/bin", "TORCHTRACE_OUTPUT_HOLDD=1s",
                                        "TORCHTRACE_BUFFER_COLOUR=red", "TORCHTRACE_OUTPUT_SIZE="});
  EXPECT_FALSE(result.config);
  EXPECT_EQ(test::all_problems(result),
            "environment: TORCHTRACE_OUTPUT_HOLDD is not an option; did you mean "
            "TORCHTRACE_OUTPUT_HOLD?\n"
            "environment: TORCHTRACE_BUFFER_COLOUR is not an option; the options of [buffer] are "
            "TORCHTRACE_BUFFER_SIZE, TORCHTRACE_BUFFER_TOTAL, TORCHTRACE_BUFFER_POLICY, "
            "TORCHTRACE_BUFFER_SPARE\n"
            "environment: TORCHTRACE_OUTPUT_SIZE is not an option; did you mean "
            "TORCHTRACE_BUFFER_SIZE?\n");
}

TEST(config_load, leaves_the_variables_of_others_alone) {
  const LoadResult result =
      load_names({"TORCHTRACE_CONFIG=", "TORCHTRACE_DEVICE=xpu", "TORCHTRACE_OUTPUT_HOLD=1s",
                  "TORCHTRACE_OUTPT_HOLD=1s", "TORCHTRACE_SECRET=x", "TORCHTRACEX=1"});
  ASSERT_TRUE(result.config) << test::all_problems(result);
  ASSERT_EQ(result.notes.size(), 2U);
  EXPECT_EQ(result.notes[0].text,
            "environment: TORCHTRACE_OUTPT_HOLD is ignored: it names no option; did you mean "
            "TORCHTRACE_OUTPUT_HOLD?");
  EXPECT_EQ(result.notes[1].text, "environment: TORCHTRACE_SECRET is ignored: it names no option");
}

TEST(config_load, refuses_a_total_below_one_ring_and_names_both) {
  const LoadResult alone = load_environment({{"TORCHTRACE_BUFFER_SIZE", "512MiB"}});
  EXPECT_EQ(test::all_problems(alone),
            "buffer.total = \"256MiB\" (default) is less than buffer.size = \"512MiB\" "
            "(TORCHTRACE_BUFFER_SIZE): not even one ring would fit\n");
  const LoadResult equal = load_environment(
      {{"TORCHTRACE_BUFFER_SIZE", "512MiB"}, {"TORCHTRACE_BUFFER_TOTAL", "512MiB"}});
  EXPECT_TRUE(equal.config);
}

std::string digest_of(const std::string& text) {
  const LoadResult result = load_text(text);
  return result.config ? result.config->digest : test::all_problems(result);
}

TEST(config_digest, depends_on_the_values_alone) {
  const std::string digest = digest_of("");
  EXPECT_EQ(digest.size(), 16U);
  EXPECT_EQ(digest.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(digest, digest_of("[buffer]\nsize = \"2048KiB\"\n"));
  EXPECT_EQ(digest, load_environment({{"TORCHTRACE_OUTPUT_SINK", "auto"}}).config->digest);
}

TEST(config_digest, changes_with_every_option) {
  const std::string digest = digest_of("");
  EXPECT_NE(digest, digest_of("[filters]\nscopes = [\"function\"]\n"));
  EXPECT_NE(digest, digest_of("[buffer]\nsize = \"4MiB\"\n"));
  EXPECT_NE(digest, digest_of("[buffer]\ntotal = \"4MiB\"\n"));
  EXPECT_NE(digest, digest_of("[filters]\ninclude = [\"aten::*\"]\n"));
  EXPECT_NE(digest, digest_of("[filters]\nexclude = [\"aten::*\"]\n"));
  EXPECT_NE(digest, digest_of("[output]\nsink = \"off\"\n"));
  EXPECT_NE(digest, digest_of("[output]\ndirectory = \"x\"\n"));
  EXPECT_NE(digest, digest_of("[output]\nmax_bytes = \"1GiB\"\n"));
  EXPECT_NE(digest, digest_of("[output]\nwhen_full = \"stop\"\n"));
  EXPECT_NE(digest, digest_of("[output]\nhold = \"1s\"\n"));
  EXPECT_NE(digest, digest_of("[output]\nperiod = \"1s\"\n"));
  EXPECT_NE(digest, digest_of("[clock]\nsource = \"tsc\"\n"));
}

// Traces of different machines and versions are compared by it: it changes only with a default.
TEST(config_digest, is_stable) { EXPECT_EQ(digest_of(""), "4939ce9b5646b645"); }

TEST(config_load, throws_nothing_when_memory_runs_out) {
  const GetEnv without_memory = [](const char*) -> const char* { throw std::bad_alloc{}; };
  const LoadResult result = load(without_memory, nullptr);
  EXPECT_FALSE(result.config);
  EXPECT_TRUE(result.problems.empty());
}

TEST(config_load, gives_a_flight_recorder_rings_that_hold_its_seconds) {
  const LoadResult result = load_environment({{"TORCHTRACE_OUTPUT_SINK", "snapshot"}});
  ASSERT_TRUE(result.config) << test::all_problems(result);
  EXPECT_EQ(result.config->buffer.policy, OverflowPolicy::kOverwriteOldest);
  EXPECT_EQ(result.config->buffer.size_bytes, 16U << 20U);
  EXPECT_EQ(origin_of(result, "buffer.size"), "snapshot.seconds");
  EXPECT_EQ(origin_of(result, "buffer.policy"), "output.sink");
}

TEST(config_load, lets_the_ring_of_a_flight_recorder_be_given) {
  const LoadResult result = load_environment(
      {{"TORCHTRACE_OUTPUT_SINK", "snapshot"}, {"TORCHTRACE_BUFFER_SIZE", "1MiB"}});
  ASSERT_TRUE(result.config) << test::all_problems(result);
  EXPECT_EQ(result.config->buffer.size_bytes, 1U << 20U);
}

TEST(config_load, refuses_a_flight_recorder_that_does_not_overwrite) {
  const LoadResult result = load_environment(
      {{"TORCHTRACE_OUTPUT_SINK", "snapshot"}, {"TORCHTRACE_BUFFER_POLICY", "block"}});
  ASSERT_EQ(result.problems.size(), 1U);
  EXPECT_EQ(result.problems[0].text,
            "buffer.policy = \"block\" (TORCHTRACE_BUFFER_POLICY) does not go with output.sink = "
            "\"snapshot\" (TORCHTRACE_OUTPUT_SINK), which overwrites the oldest");
}

}  // namespace
}  // namespace torchtrace::config
