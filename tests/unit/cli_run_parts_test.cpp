#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "agent_files.h"
#include "bounded_command.h"
#include "environment_block.h"
#include "lttng_session.h"
#include "output_directory.h"
#include "program_words.h"
#include "run_session_names.h"

namespace torchtrace::cli {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::uint64_t kKibibyte = 1024;
constexpr std::uint64_t kMebibyte = 1024 * kKibibyte;
constexpr std::uint64_t kPlenty = std::uint64_t{1} << 40U;

TEST(lttng_session, takes_subbuffers_of_one_mebibyte_up_to_64_cpus) {
  EXPECT_EQ(subbuffer_bytes(1, kPlenty), kMebibyte);
  EXPECT_EQ(subbuffer_bytes(64, kPlenty), kMebibyte);
  EXPECT_EQ(subbuffer_bytes(65, kPlenty), 512 * kKibibyte);
}

TEST(lttng_session, takes_at_most_half_of_shared_memory) {
  // Five sub-buffers for each of 16 CPUs: 80 MiB at full size, in a container with 64 MiB.
  EXPECT_EQ(subbuffer_bytes(16, 160 * kMebibyte), kMebibyte);
  EXPECT_EQ(subbuffer_bytes(16, 160 * kMebibyte - 1), 512 * kKibibyte);
  EXPECT_EQ(subbuffer_bytes(16, 64 * kMebibyte), 256 * kKibibyte);
  EXPECT_EQ(subbuffer_bytes(128, 64 * kMebibyte), 0U);
}

TEST(run_session_names, are_found_again_in_a_list_and_differ) {
  const std::string one = new_run_session_name();
  const std::string two = new_run_session_name();
  EXPECT_NE(one, two);
  const std::string list = "  1) " + one + " [active]\n  2) torchtrace-run-mine [inactive]\n  3) " +
                           two + " [inactive]\n";
  EXPECT_EQ(run_sessions_in(list), (std::vector<std::string>{one, two}));
  EXPECT_TRUE(run_sessions_in("Currently no available recording session\n").empty());
}

TEST(program_words, arrive_as_they_are) {
  for (const std::string word : {"", "[", "[1,2]", "\x01", "\x01[a]", "--lr=[0.1]", "--"}) {
    EXPECT_EQ(unprotected(protected_word(word)), word);
  }
}

TEST(environment_block, sets_and_finds_whole_names_only) {
  const char* const block[] = {"PATH=/bin", "PATHS=x=y", "EMPTY=", nullptr};
  EnvironmentBlock environment(block);
  EXPECT_STREQ(environment.get("PATHS"), "x=y");
  EXPECT_STREQ(environment.get("EMPTY"), "");
  EXPECT_EQ(environment.get("PAT"), nullptr);
  environment.set("PATH", "/usr/bin");
  EXPECT_STREQ(environment.get("PATH"), "/usr/bin");
  EXPECT_EQ(environment.pointers().size(), 4U);
  EXPECT_EQ(environment.pointers().back(), nullptr);
}

TEST(agent_files, keeps_what_is_preloaded_already) {
  const AgentFiles files{"/lib/libtorchtrace.so", ""};
  const char* const block[] = {"LD_PRELOAD=/lib/other.so", nullptr};
  EnvironmentBlock environment(block);
  preload_agent(files, environment);
  EXPECT_STREQ(environment.get("LD_PRELOAD"), "/lib/libtorchtrace.so:/lib/other.so");
  EnvironmentBlock empty(nullptr);
  preload_agent(files, empty);
  EXPECT_STREQ(empty.get("LD_PRELOAD"), "/lib/libtorchtrace.so");
}

class bounded_command : public testing::Test {
 protected:
  CommandResult run(const std::string& script, milliseconds limit = std::chrono::seconds(20)) {
    return run_bounded({"sh", "-c", script}, environment_, signals_, limit);
  }

  EnvironmentBlock environment_{environ};
  SignalGuard signals_;
};

TEST_F(bounded_command, gives_output_and_status) {
  const CommandResult ok = run("echo one; echo two >&2");
  EXPECT_TRUE(ok.is_ok());
  EXPECT_EQ(ok.output, "one\ntwo\n");
  const CommandResult failed = run("echo reason; echo; exit 3");
  EXPECT_FALSE(failed.is_ok());
  EXPECT_EQ(failed.reason(), "reason");
}

TEST_F(bounded_command, kills_what_does_not_end_with_all_its_children) {
  const auto begin = steady_clock::now();
  const CommandResult result = run("sleep 300 & echo $!; wait", milliseconds(300));
  EXPECT_TRUE(result.is_timed_out);
  EXPECT_FALSE(result.is_ok());
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(100));
  // Nobody waits for the command's own child: it is gone some time after the signal.
  const std::string state = "/proc/" + last_line(result.output) + "/cmdline";
  std::string command;
  do {
    command.clear();
    std::getline(std::ifstream(state) >> std::ws, command);
  } while (!command.empty() && steady_clock::now() - begin < std::chrono::seconds(100));
  EXPECT_EQ(command, "") << "the command's own child is still there";
}

TEST_F(bounded_command, does_not_wait_for_a_daemon_that_keeps_its_output) {
  const CommandResult result = run("setsid sleep 3 & echo started");
  EXPECT_TRUE(result.is_ok());
  EXPECT_EQ(result.output, "started\n");
}

TEST_F(bounded_command, says_why_a_program_cannot_be_started) {
  const CommandResult result =
      run_bounded({"/nonexistent/program"}, environment_, signals_, milliseconds(1000));
  EXPECT_EQ(result.start_error, ENOENT);
  EXPECT_EQ(result.reason(), "No such file or directory");
}

class output_directory : public testing::Test {
 public:
  output_directory() {
    std::string pattern = testing::TempDir() + "torchtrace-output-XXXXXX";
    base_ = mkdtemp(pattern.data());
  }
  ~output_directory() override { fs::remove_all(base_); }

 protected:
  std::string base_;
};

TEST_F(output_directory, is_made_with_those_above_it_and_private) {
  const OutputDirectory directory = make_named_directory(base_ + "/a/b/");
  EXPECT_EQ(directory.path, base_ + "/a/b");
  EXPECT_EQ(fs::status(directory.path).permissions(), fs::perms::owner_all);
}

TEST_F(output_directory, named_by_the_user_must_be_empty) {
  EXPECT_EQ(make_named_directory(base_).path, base_);
  std::ofstream(base_ + "/something") << "x";
  const OutputDirectory refused = make_named_directory(base_);
  EXPECT_TRUE(refused.path.empty());
  EXPECT_NE(refused.error.find(base_), std::string::npos);
}

TEST_F(output_directory, of_a_configuration_gets_a_folder_for_each_run) {
  EXPECT_EQ(make_configured_directory(base_).path, base_);
  std::ofstream(base_ + "/something") << "x";
  const std::string first = make_configured_directory(base_).path;
  const std::string second = make_configured_directory(base_).path;
  EXPECT_EQ(fs::path(first).parent_path(), base_);
  EXPECT_NE(first, second);
}

TEST_F(output_directory, holds_a_trace_where_there_is_metadata) {
  fs::create_directories(base_ + "/ust/uid");
  EXPECT_FALSE(holds_trace(base_));
  std::ofstream(base_ + "/ust/uid/metadata") << "x";
  EXPECT_TRUE(holds_trace(base_));
}

TEST_F(output_directory, is_removed_only_if_it_holds_no_file) {
  fs::create_directories(base_ + "/trace/ust");
  std::ofstream(base_ + "/trace/ust/file") << "x";
  remove_if_empty(base_ + "/trace");
  EXPECT_TRUE(fs::exists(base_ + "/trace/ust/file"));
  fs::remove(base_ + "/trace/ust/file");
  remove_if_empty(base_ + "/trace");
  EXPECT_FALSE(fs::exists(base_ + "/trace"));
}

}  // namespace
}  // namespace torchtrace::cli
