#include <gtest/gtest.h>

#include <string>

#include "flush/ctf/utf8.h"

namespace torchtrace::flush {
namespace {

std::string as_utf8(const std::string& text) {
  std::string result(text.size(), '#');
  result.resize(copy_as_utf8(result.data(), text.data(), text.size()));
  return result;
}

TEST(utf8, keeps_what_is_well_formed) {
  EXPECT_EQ(as_utf8(""), "");
  EXPECT_EQ(as_utf8("aten::add.Tensor"), "aten::add.Tensor");
  EXPECT_EQ(as_utf8("\xC2\x80|\xDF\xBF"), "\xC2\x80|\xDF\xBF");
  EXPECT_EQ(as_utf8("\xE0\xA0\x80|\xED\x9F\xBF|\xEE\x80\x80|\xEF\xBF\xBF"),
            "\xE0\xA0\x80|\xED\x9F\xBF|\xEE\x80\x80|\xEF\xBF\xBF");
  EXPECT_EQ(as_utf8("\xF0\x90\x80\x80|\xF4\x8F\xBF\xBF"), "\xF0\x90\x80\x80|\xF4\x8F\xBF\xBF");
}

TEST(utf8, replaces_each_byte_that_is_part_of_no_character) {
  EXPECT_EQ(as_utf8("a\x80z"), "a?z");
  EXPECT_EQ(as_utf8("\xFF\xFE"), "??");
  EXPECT_EQ(as_utf8("\xC3="), "?=");
  EXPECT_EQ(as_utf8("\xE2\x82_"), "??_");
}

TEST(utf8, replaces_overlong_forms_surrogates_and_what_is_beyond_unicode) {
  EXPECT_EQ(as_utf8("\xC0\x80."), "??.");
  EXPECT_EQ(as_utf8("\xC1\xBF."), "??.");
  EXPECT_EQ(as_utf8("\xE0\x9F\xBF."), "???.");
  EXPECT_EQ(as_utf8("\xED\xA0\x80."), "???.");
  EXPECT_EQ(as_utf8("\xF0\x8F\xBF\xBF."), "????.");
  EXPECT_EQ(as_utf8("\xF4\x90\x80\x80."), "????.");
  EXPECT_EQ(as_utf8("\xF5\x80\x80\x80."), "????.");
}

TEST(utf8, leaves_out_a_character_that_the_end_cuts) {
  EXPECT_EQ(as_utf8("abc\xC3"), "abc");
  EXPECT_EQ(as_utf8("abc\xF0\x9F\x98"), "abc");
  EXPECT_EQ(as_utf8("\xE2\x82"), "");
}

/// Long names are copied in words, the last of which overlaps the one before.
TEST(utf8, looks_at_every_byte_whatever_the_length) {
  for (std::size_t length = 1; length <= 33; ++length) {
    const std::string plain =
        std::string("aten::convolution_backward_overrideable").substr(0, length);
    EXPECT_EQ(as_utf8(plain), plain);
    for (std::size_t at = 0; at < length; ++at) {
      std::string damaged = plain;
      std::string expected = plain;
      damaged[at] = '\xFF';
      expected[at] = '?';
      EXPECT_EQ(as_utf8(damaged), expected);
    }
  }
}

}  // namespace
}  // namespace torchtrace::flush
