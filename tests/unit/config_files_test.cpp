// Files that cannot be read, are not TOML, or hold names that are no options.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "config/ascii_text.h"
#include "config/key_dots.h"
#include "config_support.h"

namespace torchtrace::config {
namespace {

using test::all_problems;
using test::TemporaryFile;

std::string problems_of(const std::string& path) {
  const LoadResult result = load_file(path);
  EXPECT_FALSE(result.config);
  return all_problems(result);
}

/// The problems of a file with this text, without the file's name before each.
std::string problems_in(const std::string& text) {
  const TemporaryFile file{text};
  std::string problems = problems_of(file.path());
  for (std::size_t at = 0; (at = problems.find(file.path(), at)) != std::string::npos;) {
    problems.erase(at, file.path().size());
  }
  return problems;
}

TEST(config_files, says_why_a_file_cannot_be_read) {
  EXPECT_EQ(problems_of("/nonexistent/a.toml"),
            "cannot read /nonexistent/a.toml: No such file or directory\n");
  EXPECT_EQ(problems_of("/tmp"), "cannot read /tmp: it is a directory, not a file\n");
  EXPECT_EQ(problems_of("/dev/zero"), "cannot read /dev/zero: it is not a regular file\n");
}

TEST(config_files, says_where_a_relative_path_was_looked_for) {
  const std::string problems = problems_of("no such\n.toml");
  EXPECT_EQ(
      problems.find("cannot read no such\\n.toml: No such file or directory (looked for in /"), 0U)
      << problems;
}

TEST(config_files, names_the_variable_that_named_the_file) {
  const LoadResult result = test::load_environment({{"TORCHTRACE_CONFIG", "/nonexistent"}});
  EXPECT_EQ(all_problems(result),
            "TORCHTRACE_CONFIG: cannot read /nonexistent: No such file or directory\n");
}

/// Root may read every file: become somebody else for a while.
class NotRoot {
 public:
  NotRoot() : was_root_{geteuid() == 0}, is_done_{!was_root_ || seteuid(kNobody) == 0} {}
  NotRoot(const NotRoot&) = delete;
  NotRoot& operator=(const NotRoot&) = delete;
  ~NotRoot() {
    if (was_root_ && is_done_) static_cast<void>(seteuid(0) == 0);
  }
  bool is_done() const { return is_done_; }

 private:
  static constexpr uid_t kNobody = 65534;
  bool was_root_;
  bool is_done_;
};

TEST(config_files, refuses_a_file_without_permission) {
  const TemporaryFile file{""};
  ASSERT_EQ(chmod(file.path().c_str(), 0), 0);
  const NotRoot not_root;
  ASSERT_TRUE(not_root.is_done()) << "root that may not become nobody";
  EXPECT_EQ(problems_of(file.path()), "cannot read " + file.path() + ": Permission denied\n");
}

TEST(config_files, does_not_wait_for_a_writer_of_a_fifo) {
  const std::string path = testing::TempDir() + "torchtrace_fifo_" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(problems_of(path), "cannot read " + path + ": it is not a regular file\n");
  unlink(path.c_str());
}

TEST(config_files, refuses_what_is_far_too_large) {
  EXPECT_EQ(problems_in(std::string(65537, '\n')), "cannot read : it is larger than 64KiB\n");
  EXPECT_TRUE(test::load_text(std::string(65536, '\n')).config);
}

TEST(config_files, refuses_keys_that_nest_without_end) {
  std::string dotted = "a";
  while (dotted.size() < 60000) dotted += ".a";
  EXPECT_EQ(problems_in(dotted + " = 1\n"),
            ": more than 256 dots outside strings: no configuration nests keys so deeply\n");
  const std::string nested = std::string(17, '[') + std::string(17, ']');
  EXPECT_EQ(problems_in("a = " + nested).find(":1: not valid TOML"), 0U);
}

TEST(key_dots, are_counted_outside_comments_and_strings) {
  EXPECT_EQ(count_key_dots(""), 0U);
  EXPECT_EQ(count_key_dots("a.b = 1.5 # ...\n[c.d]"), 3U);
  EXPECT_EQ(count_key_dots(R"("a.b".'c.d' = "..\"..". # .)"), 2U);
  EXPECT_EQ(count_key_dots(R"(a = 'C:\..\' . b = '.')"), 1U) << "no escapes between single quotes";
  EXPECT_EQ(count_key_dots("a = \"\"\".\n\".\"\"\"\nb.c = '''\n'.'''"), 1U);
  EXPECT_EQ(count_key_dots("a = \"...\nb.c = 1"), 1U) << "an open string ends with its line";
  EXPECT_EQ(count_key_dots("a = \"\"\"..."), 0U);
  EXPECT_EQ(count_key_dots("a = \"\\"), 0U);
}

TEST(config_files, gives_the_line_of_a_syntax_error) {
  EXPECT_EQ(problems_in("[output]\n\nsink = ctf\n")
                .find(":3: not valid TOML, column 8 of \"sink = ctf\": "),
            0U);
  EXPECT_NE(problems_in("[output]\nsink = ctf\n").find("strings are written in double quotes"),
            std::string::npos);
  EXPECT_EQ(problems_in("[output\nsink = \"ctf\"\n").find(":1: not valid TOML"), 0U);
  EXPECT_EQ(problems_in("[output]\nhold = \"1s\nperiod = \"1s\"\n").find(":2: not valid TOML"), 0U);
}

TEST(config_files, refuses_what_is_given_twice) {
  const std::string problems = problems_in("[output]\nhold = \"1s\"\nhold = \"2s\"\n");
  EXPECT_EQ(problems.find(":3: not valid TOML"), 0U) << problems;
  EXPECT_NE(problems.find("it is given twice"), std::string::npos) << problems;
  EXPECT_EQ(problems_in("[output]\n[output]\n").find(":2: not valid TOML"), 0U);
}

TEST(config_files, finds_unknown_keys_and_suggests_the_nearest) {
  EXPECT_EQ(problems_in("[output]\nholdd = \"1s\"\n"),
            ":2: output.holdd is not an option; did you mean output.hold?\n");
  EXPECT_EQ(problems_in("[output]\nsize = \"1MiB\"\n"),
            ":2: output.size is not an option; did you mean buffer.size?\n");
  EXPECT_EQ(problems_in("[clock]\ncolour = \"red\"\n"),
            ":2: clock.colour is not an option; the keys of [clock] are source\n");
  EXPECT_EQ(problems_in("output.holdd = \"1s\"\n"),
            ":1: output.holdd is not an option; did you mean output.hold?\n");
}

TEST(config_files, finds_unknown_sections_once_whatever_they_hold) {
  EXPECT_EQ(problems_in("[outptu]\nhold = 1\nsink = 2\n"),
            ":1: [outptu] is not a section; did you mean [output]?\n");
  EXPECT_EQ(problems_in("[colours]\n"),
            ":1: [colours] is not a section; the sections are filters, observer, buffer, output, "
            "snapshot, clock\n");
}

TEST(config_files, finds_keys_outside_their_section) {
  EXPECT_EQ(problems_in("hold = \"1s\"\n"),
            ":1: hold stands outside any section; did you mean output.hold?\n");
  EXPECT_EQ(
      problems_in("colour = 1\n"),
      ":1: colour stands outside any section; the sections are filters, observer, buffer, output, "
      "snapshot, clock\n");
  EXPECT_EQ(problems_in("output = 1\n"), ":1: output is a section, not a key: write [output]\n");
  EXPECT_EQ(problems_in("[[output]]\nhold = \"1s\"\n"),
            ":1: output is a section, not a key: write [output]\n");
}

// toml++ 3.3 has undefined behaviour on most characters beyond ASCII outside strings; seen by
// UndefinedBehaviorSanitizer.
TEST(config_files, survives_other_characters_anywhere) {
  EXPECT_EQ(problems_in("[output]\nsink = \u00e9\n")
                .find(":2: not valid TOML, column 8 of \"sink = \u00e9\": "),
            0U);
  EXPECT_EQ(problems_in("\"caf\u00e9\" = 1 \u00e9\n").find(":1: not valid TOML, column 12 of "),
            0U);
  EXPECT_EQ(problems_in("sink =1'\u00e9'\n").find(":1: not valid TOML"), 0U);
  EXPECT_EQ(problems_in("\u00e9 = 1\n").find(":1: not valid TOML"), 0U);
  EXPECT_EQ(problems_in("'caf\u00e9' = 1\n").find(":1: caf\u00e9 stands outside any section"), 0U);
  const LoadResult result =
      test::load_text("\xEF\xBB\xBF# \u00e9\n[output]\ndirectory = '/50%25/\u00e9\xff' # \u00e9\n");
  ASSERT_TRUE(result.config) << all_problems(result);
  EXPECT_EQ(result.config->output.directory, "/50%25/\u00e9\xff");
}

TEST(ascii_text, comes_back_as_it_was) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  const std::string encoded = encode_ascii(all);
  for (const char c : encoded) EXPECT_LT(static_cast<unsigned char>(c), 0x80U);
  EXPECT_EQ(decode_ascii(encoded), all);
  EXPECT_EQ(decode_ascii("%4 % %zz %4"), "%4 % %zz %4");
}

TEST(config_files, lists_every_problem_in_the_order_of_the_lines) {
  EXPECT_EQ(
      problems_in("[output]\nsink = 1\nhold = \"1h\"\n[buffer]\nsizee = 1\n"),
      ":2: output.sink = 1: an integer, expected one of auto, lttng, ctf, snapshot, none, off\n"
      ":3: output.hold = \"1h\": above the maximum of 10s\n"
      ":5: buffer.sizee is not an option; did you mean buffer.size?\n");
}

TEST(config_files, shows_a_value_as_it_was_written) {
  EXPECT_EQ(problems_in("[output]\n\"hold\" = '\u00e4' # \u00e4\n"),
            ":2: output.hold = '\u00e4': expected a duration such as \"10ms\"\n");
  EXPECT_EQ(problems_in("[output]\nhold = 0x1F\n"),
            ":2: output.hold = 0x1F: a duration needs a unit (ns us ms s min h), such as "
            "\"10ms\"\n");
  EXPECT_EQ(problems_in("[output]\r\nhold = 1_000.5\r\n"),
            ":2: output.hold = 1_000.5: a floating-point number, expected a duration such as "
            "\"10ms\"\n");
  EXPECT_EQ(problems_in("output = { hold = 1, period = true }\n"),
            ":1: output.hold = 1: a duration needs a unit (ns us ms s min h), such as \"10ms\"\n"
            ":1: output.period = true: a boolean, expected a duration such as \"10ms\"\n");
}

}  // namespace
}  // namespace torchtrace::config
