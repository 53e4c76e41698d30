// Whatever the file holds, the reader neither crashes nor hangs, and gives values or says why not.
// The seeds are fixed: a failure can be repeated. Meant to be run under AddressSanitizer as well.

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "config/reference.h"
#include "config_support.h"

namespace torchtrace::config {
namespace {

constexpr int kRounds = 400;

void expect_an_answer(const std::string& text) {
  const LoadResult result = test::load_text(text);
  ASSERT_NE(result.config.has_value(), !result.problems.empty()) << text;
  for (const Problem& problem : result.problems) {
    ASSERT_EQ(problem.text.find('\n'), std::string::npos) << problem.text;
    ASSERT_LT(problem.text.size(), 1000U);
  }
}

std::string random_text(std::mt19937& random, std::string_view alphabet, std::size_t length) {
  std::string text(length, '\0');
  for (char& c : text) {
    c = alphabet.empty() ? static_cast<char>(random()) : alphabet[random() % alphabet.size()];
  }
  return text;
}

TEST(config_fuzz, random_bytes) {
  std::mt19937 random{1};
  for (int i = 0; i < kRounds; ++i) expect_an_answer(random_text(random, {}, random() % 512));
}

TEST(config_fuzz, random_punctuation) {
  std::mt19937 random{2};
  constexpr std::string_view kAlphabet = "[]{}=.,\"'#\n\r\t abe01-+:TZ_\\u";
  for (int i = 0; i < kRounds; ++i) {
    expect_an_answer(random_text(random, kAlphabet, random() % 256));
  }
}

TEST(config_fuzz, the_sample_file_with_damage) {
  std::mt19937 random{3};
  std::string sample = sample_toml();
  for (std::size_t at = 0; (at = sample.find("\n#", at)) != std::string::npos; ++at) {
    if (sample[at + 2] != ' ' && sample[at + 2] != '\n') sample.erase(at + 1, 1);
  }
  for (int i = 0; i < kRounds; ++i) {
    std::string text = sample;
    for (int hits = 0; hits < 3; ++hits) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    text.resize(random() % 4 == 0 ? random() % text.size() : text.size());
    expect_an_answer(text);
  }
}

TEST(config_fuzz, values_of_every_option) {
  std::mt19937 random{4};
  constexpr std::string_view kAlphabet = "0123456789.,-~ _KMGTiBnumsh\"'[]";
  for (int i = 0; i < kRounds; ++i) {
    for (const Option& option : options()) {
      Value value;
      const std::string text = random_text(random, kAlphabet, random() % 24);
      const std::string wrong = parse_value(option, raw_from_text(option, text), value);
      if (!wrong.empty()) continue;
      Value again;
      ASSERT_EQ(parse_value(option, raw_from_text(option, canonical_text(option, value)), again),
                option.type == ValueType::kDuration
                    ? "a duration needs a unit (ns us ms s min h), such as \"10ms\""
                    : "")
          << option.name << ' ' << text;
    }
  }
}

TEST(config_fuzz, deep_nesting_and_long_lines) {
  expect_an_answer("a = " + std::string(60000, '['));
  expect_an_answer("a" + std::string(60000, '.') + "b = 1");
  std::string dotted = "a";
  while (dotted.size() < 60000) dotted += ".a";
  expect_an_answer(dotted + " = 1");
  expect_an_answer(std::string(60000, 'k') + " = 1");
  expect_an_answer("[output]\nsink = \"" + std::string(60000, 'x') + "\"");
  expect_an_answer("[filters]\nscopes = [" + std::string(60000, ' ') + "\"\"]");
}

}  // namespace
}  // namespace torchtrace::config
