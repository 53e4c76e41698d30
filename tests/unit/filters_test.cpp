#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "filters/glob.h"
#include "filters/name_filter.h"

namespace torchtrace::filters {
namespace {

TEST(glob, stands_for_itself_without_wildcards) {
  EXPECT_TRUE(matches_glob("aten::add.Tensor", "aten::add.Tensor"));
  EXPECT_FALSE(matches_glob("aten::add", "aten::add.Tensor"));
  EXPECT_FALSE(matches_glob("aten::add.Tensor", "aten::add"));
  EXPECT_TRUE(matches_glob("", ""));
  EXPECT_FALSE(matches_glob("", "a"));
}

TEST(glob, star_stands_for_any_characters) {
  EXPECT_TRUE(matches_glob("*", ""));
  EXPECT_TRUE(matches_glob("aten::*", "aten::add.Tensor"));
  EXPECT_TRUE(matches_glob("*Backward0", "AddBackward0"));
  EXPECT_FALSE(matches_glob("*Backward0", "AddBackward01"));
  EXPECT_TRUE(matches_glob("autograd::*: *0", "autograd::engine::evaluate_function: AddBackward0"));
  EXPECT_TRUE(matches_glob("a*b*c", "a-b-b-c-b-c"));
  EXPECT_FALSE(matches_glob("a*b*c", "a-b-b-c-b"));
  EXPECT_TRUE(matches_glob("**a**", "bab"));
}

TEST(glob, question_mark_stands_for_one) {
  EXPECT_TRUE(matches_glob("conv?d", "conv2d"));
  EXPECT_FALSE(matches_glob("conv?d", "convd"));
  EXPECT_TRUE(matches_glob("*?", "x"));
  EXPECT_FALSE(matches_glob("*?", ""));
}

TEST(glob, brackets_and_backslashes_stand_for_themselves) {
  EXPECT_TRUE(matches_glob("f[0]", "f[0]"));
  EXPECT_FALSE(matches_glob("f[0]", "f0"));
  EXPECT_TRUE(matches_glob("a\\*", "a\\b"));
}

/// The definition, written down: slow, and for short patterns only.
bool matches_by_definition(const std::string& pattern, const std::string& text) {
  if (pattern.empty()) return text.empty();
  const std::string rest = pattern.substr(1);
  if (pattern[0] == '*') {
    for (std::size_t skip = 0; skip <= text.size(); ++skip) {
      if (matches_by_definition(rest, text.substr(skip))) return true;
    }
    return false;
  }
  return !text.empty() && (pattern[0] == '?' || pattern[0] == text[0]) &&
         matches_by_definition(rest, text.substr(1));
}

/// All words over `letters` up to `length`.
std::vector<std::string> words(const std::string& letters, std::size_t length) {
  std::vector<std::string> all{""};
  for (std::size_t from = 0; all[from].size() < length; ++from) {
    for (const char letter : letters) all.push_back(all[from] + letter);
  }
  return all;
}

TEST(glob, equals_its_definition_on_all_short_words) {
  const std::vector<std::string> texts = words("ab", 6);
  for (const std::string& pattern : words("a*?", 5)) {
    for (const std::string& text : texts) {
      ASSERT_EQ(matches_glob(pattern, text), matches_by_definition(pattern, text))
          << pattern << " on " << text;
    }
  }
}

TEST(name_filter, keeps_all_without_patterns) { EXPECT_TRUE(NameFilter().keeps("aten::add")); }

TEST(name_filter, with_any_include_the_rest_is_out) {
  const NameFilter filter({"aten::*", "forward"}, {});
  EXPECT_TRUE(filter.keeps("aten::add.Tensor"));
  EXPECT_TRUE(filter.keeps("forward"));
  EXPECT_FALSE(filter.keeps("backward"));
}

TEST(name_filter, exclude_beats_include) {
  const NameFilter filter({"aten::*"}, {"aten::add*"});
  EXPECT_TRUE(filter.keeps("aten::mul.Tensor"));
  EXPECT_FALSE(filter.keeps("aten::add.Tensor"));
}

}  // namespace
}  // namespace torchtrace::filters
