// What is generated from the option table, and what is shipped beside it.

#include <dirent.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "config/reference.h"
#include "config_support.h"

namespace torchtrace::config {
namespace {

const std::string kSource = TORCHTRACE_SOURCE_DIR;

TEST(config_reference, is_what_the_repository_holds) {
  EXPECT_EQ(sample_toml(), test::read_text(kSource + "/config/torchtrace.toml"))
      << "run: build/bin/torchtrace config init --force config/torchtrace.toml";
  EXPECT_EQ(reference_markdown(), test::read_text(kSource + "/docs/configuration.md"))
      << "run: build/bin/torchtrace config init --markdown --force docs/configuration.md";
}

std::size_t settings_in(const LoadResult& result) {
  const auto is_set = [](const std::string& origin) { return origin != "default"; };
  return static_cast<std::size_t>(
      std::count_if(result.origins.begin(), result.origins.end(), is_set));
}

TEST(config_reference, sample_sets_nothing_as_it_stands) {
  const LoadResult result = test::load_text(sample_toml());
  ASSERT_TRUE(result.config) << test::all_problems(result);
  EXPECT_EQ(settings_in(result), 0U);
}

/// The sample with every option's line uncommented: options begin with "#", text with "# ".
std::string uncommented_sample() {
  std::istringstream lines{sample_toml()};
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    const bool is_option = line.size() > 1 && line[0] == '#' && line[1] != ' ';
    out += (is_option ? line.substr(1) : line) + '\n';
  }
  return out;
}

TEST(config_reference, sample_uncommented_sets_every_option_to_its_default) {
  const LoadResult result = test::load_text(uncommented_sample());
  ASSERT_TRUE(result.config) << test::all_problems(result);
  EXPECT_EQ(settings_in(result), options().size());
  EXPECT_EQ(result.config->digest, test::load_environment({}).config->digest);
}

TEST(config_reference, fits_the_screen) {
  std::istringstream lines{sample_toml()};
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(config_reference, document_has_every_option_and_choice) {
  const std::string text = reference_markdown();
  for (const Option& option : options()) {
    EXPECT_NE(text.find("### `" + std::string{option.name} + "`\n"), std::string::npos);
    EXPECT_NE(text.find('`' + environment_name(option) + '`'), std::string::npos);
    for (const Choice& choice : option.choices) {
      EXPECT_NE(text.find("| `" + std::string{choice.name} + "` | "), std::string::npos);
    }
  }
}

std::vector<std::string> example_files() {
  std::vector<std::string> paths;
  const std::string folder = kSource + "/config/examples";
  DIR* directory = opendir(folder.c_str());
  while (const dirent* entry = directory == nullptr ? nullptr : readdir(directory)) {
    if (entry->d_name[0] != '.') paths.push_back(folder + '/' + entry->d_name);
  }
  if (directory != nullptr) closedir(directory);
  return paths;
}

TEST(config_reference, examples_are_valid_and_change_something) {
  const std::vector<std::string> paths = example_files();
  EXPECT_GE(paths.size(), 3U);
  for (const std::string& path : paths) {
    const LoadResult result = load_file(path);
    ASSERT_TRUE(result.config) << test::all_problems(result);
    EXPECT_GT(settings_in(result), 0U) << path;
  }
}

}  // namespace
}  // namespace torchtrace::config
