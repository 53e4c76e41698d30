#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "config/units.h"

namespace torchtrace::config {
namespace {

struct Good {
  const char* text;
  Dimension dimension;
  std::uint64_t value;
};

class UnitsGood : public testing::TestWithParam<Good> {};

TEST_P(UnitsGood, is_read) {
  std::uint64_t value = 0;
  EXPECT_EQ(parse_quantity(GetParam().text, GetParam().dimension, value), "");
  EXPECT_EQ(value, GetParam().value) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    units, UnitsGood,
    testing::Values(
        Good{"0", Dimension::kBytes, 0}, Good{"17", Dimension::kBytes, 17},
        Good{"17B", Dimension::kBytes, 17}, Good{"4MiB", Dimension::kBytes, 4194304},
        Good{" 4 MiB ", Dimension::kBytes, 4194304}, Good{"4MB", Dimension::kBytes, 4000000},
        Good{"1.5KiB", Dimension::kBytes, 1536}, Good{"3KB", Dimension::kBytes, 3000},
        Good{"2GiB", Dimension::kBytes, 2147483648}, Good{"2GB", Dimension::kBytes, 2000000000},
        Good{"18446744073709551615", Dimension::kBytes, UINT64_MAX},
        Good{"1ns", Dimension::kTime, 1}, Good{"1us", Dimension::kTime, 1000},
        Good{"10ms", Dimension::kTime, 10000000}, Good{"0.000001s", Dimension::kTime, 1000},
        Good{"1.5s", Dimension::kTime, 1500000000}, Good{"2min", Dimension::kTime, 120000000000},
        Good{"1.25h", Dimension::kTime, 4500000000000}));

struct Bad {
  const char* text;
  Dimension dimension;
  const char* part_of_message;
};

class UnitsBad : public testing::TestWithParam<Bad> {};

TEST_P(UnitsBad, is_refused_with_the_reason) {
  std::uint64_t value = 0;
  const std::string wrong = parse_quantity(GetParam().text, GetParam().dimension, value);
  EXPECT_NE(wrong.find(GetParam().part_of_message), std::string::npos)
      << GetParam().text << ": " << wrong;
}

INSTANTIATE_TEST_SUITE_P(
    units, UnitsBad,
    testing::Values(Bad{"", Dimension::kBytes, "expected a size such as"},
                    Bad{"", Dimension::kTime, "expected a duration such as"},
                    Bad{"MiB", Dimension::kBytes, "expected a size"},
                    Bad{"-1ms", Dimension::kTime, "expected a duration"},
                    Bad{"10", Dimension::kTime, "needs a unit (ns us ms s min h)"},
                    Bad{"4mib", Dimension::kBytes, R"(unknown unit "mib"; did you mean "MiB"?)"},
                    Bad{"4ms", Dimension::kBytes, "the units are B KB KiB MB MiB GB GiB"},
                    Bad{"4 parsecs", Dimension::kTime, R"(unknown unit "parsecs")"},
                    Bad{"1.B", Dimension::kBytes, "digits after the decimal point"},
                    Bad{"1.5B", Dimension::kBytes, "not a whole number of bytes"},
                    Bad{"0.5ns", Dimension::kTime, "not a whole number of nanoseconds"},
                    Bad{"1.0000001s", Dimension::kTime, "more than six decimals"},
                    Bad{"18446744073709551616", Dimension::kBytes, "too large"},
                    Bad{"17179869184GiB", Dimension::kBytes, "too large"},
                    Bad{"18446744073709551615.5KiB", Dimension::kBytes, "too large"},
                    Bad{"1e3ms", Dimension::kTime, "unknown unit"},
                    Bad{"1,5s", Dimension::kTime, "unknown unit"}));

TEST(units, print_the_largest_unit_that_divides) {
  EXPECT_EQ(format_quantity(0, Dimension::kBytes), "0B");
  EXPECT_EQ(format_quantity(65536, Dimension::kBytes), "64KiB");
  EXPECT_EQ(format_quantity(1000000, Dimension::kBytes), "1MB");
  EXPECT_EQ(format_quantity(1025, Dimension::kBytes), "1025B");
  EXPECT_EQ(format_quantity(50000000, Dimension::kTime), "50ms");
  EXPECT_EQ(format_quantity(90000000000, Dimension::kTime), "90s");
}

TEST(units, read_back_what_they_print) {
  for (std::uint64_t value = 1; value < UINT64_MAX / 7; value = value * 7 + 3) {
    for (const Dimension dimension : {Dimension::kBytes, Dimension::kTime}) {
      std::uint64_t back = 0;
      ASSERT_EQ(parse_quantity(format_quantity(value, dimension), dimension, back), "");
      ASSERT_EQ(back, value);
    }
  }
}

}  // namespace
}  // namespace torchtrace::config
