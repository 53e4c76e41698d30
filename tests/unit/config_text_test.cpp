#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "config/text.h"

namespace torchtrace::config {
namespace {

const std::vector<std::string_view>& keys() {
  static const std::vector<std::string_view> kKeys{"sink",      "directory", "max_bytes",
                                                   "when_full", "hold",      "period"};
  return kKeys;
}

TEST(nearest, finds_each_kind_of_slip) {
  EXPECT_EQ(nearest("sinkk", keys()), "sink") << "one letter too many";
  EXPECT_EQ(nearest("hld", keys()), "hold") << "one too few";
  EXPECT_EQ(nearest("perIod", keys()), "period") << "case";
  EXPECT_EQ(nearest("max-bytes", keys()), "max_bytes") << "a dash";
  EXPECT_EQ(nearest("maxbytes", keys()), "max_bytes") << "no underscore";
  EXPECT_EQ(nearest("sikn", keys()), "sink") << "two swapped";
  EXPECT_EQ(nearest("dir", keys()), "directory") << "only the beginning";
}

TEST(nearest, prefers_the_nearest) {
  EXPECT_EQ(nearest("holds", {"hold", "holds_", "folds"}), "hold");
  EXPECT_EQ(nearest("fold", {"hold", "fold"}), "fold");
}

TEST(nearest, does_not_guess_wildly) {
  EXPECT_EQ(nearest("colour", keys()), "");
  EXPECT_EQ(nearest("xx", keys()), "");
  EXPECT_EQ(nearest("", keys()), "");
  EXPECT_EQ(nearest(std::string(100000, 'h'), keys()), "");
  EXPECT_EQ(nearest("hold", {}), "");
}

TEST(text, keeps_a_message_on_one_line_and_the_terminal_unharmed) {
  EXPECT_EQ(printable("a\nb\tc\x1b[2J\x7f"), "a\\nb\\tc\\x1b[2J\\x7f");
  EXPECT_EQ(quoted("a\"b"), "\"a\"b\"");
}

TEST(text, is_cut_between_characters) {
  const std::string long_text = std::string(kMaxShownBytes - 1, 'a') + "\u00e9" + "tail";
  EXPECT_EQ(printable(long_text), std::string(kMaxShownBytes - 1, 'a') + "...");
  EXPECT_EQ(printable(std::string(kMaxShownBytes, 'a')), std::string(kMaxShownBytes, 'a'));
}

}  // namespace
}  // namespace torchtrace::config
