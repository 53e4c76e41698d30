// The sink as a guest: what it leaves in the file system, and what it does when the host program
// interferes.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "ctf_sink_fixture.h"
#include "ctf_trace.h"

namespace torchtrace::flush {
namespace {

namespace fs = std::filesystem;

/// What the sink has said. Its callback is a plain function: hence a static.
struct Heard {
  int times = 0;
  std::string sentence;
};
Heard heard;

void hear(const char* sentence) {
  ++heard.times;
  heard.sentence = sentence;
}

class ctf_sink_files : public CtfSinkFixture {
 protected:
  static unsigned mode(const fs::path& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
  }

  /// Descriptors of this process that are open on a file below `folder`.
  static std::vector<int> descriptors_below(const std::string& folder) {
    std::vector<int> found;
    for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
      std::error_code error;
      const fs::path target = fs::read_symlink(entry.path(), error);
      if (error || target.string().rfind(folder, 0) != 0) continue;
      found.push_back(std::stoi(entry.path().filename().string()));
    }
    return found;
  }

  CtfSinkOptions heard_options() const {
    CtfSinkOptions with_say = options();
    with_say.say = hear;
    heard = Heard{};
    return with_say;
  }
};

TEST_F(ctf_sink_files, are_for_the_user_only_whatever_the_umask) {
  const mode_t before = ::umask(0777);
  const auto sink = make(options());
  ::umask(before);
  ASSERT_TRUE(sink) << error_;
  feed(*sink, 1000);
  finish(*sink, 1000);
  EXPECT_EQ(mode(folder()), 0700U);
  EXPECT_EQ(mode(folder() + "/metadata"), 0600U);
  EXPECT_EQ(mode(folder() + "/stream-000000"), 0600U);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder()), fs::directory_iterator()), 2);
}

/// babeltrace2 exchanges packets of several files that begin at one moment.
TEST_F(ctf_sink_files, hold_packets_that_begin_one_after_the_other_even_if_all_happens_at_once) {
  const auto sink = make(options());
  ASSERT_TRUE(sink) << error_;
  torchtrace_thread thread{};
  thread.ts = now_ns_;
  thread.name = "one of many";
  for (thread.tid = 1; thread.tid <= 500; ++thread.tid) sink->thread(thread);
  finish(*sink, 0);
  const CtfTrace trace = read_ctf_trace(folder());
  ASSERT_GT(trace.packets.size(), 3U);
  for (std::size_t at = 1; at < trace.packets.size(); ++at) {
    EXPECT_GT(trace.packets[at].timestamp_begin, trace.packets[at - 1].timestamp_begin);
  }
}

TEST_F(ctf_sink_files, are_not_passed_on_to_programs_that_the_host_starts) {
  const auto sink = make(options());
  ASSERT_TRUE(sink) << error_;
  const std::vector<int> descriptors = descriptors_below(folder());
  ASSERT_EQ(descriptors.size(), 1U);
  EXPECT_EQ(::fcntl(descriptors[0], F_GETFD), FD_CLOEXEC);
}

TEST_F(ctf_sink_files, are_never_written_over) {
  fs::create_directory(folder());
  std::ofstream(folder() + "/metadata") << "somebody's";
  EXPECT_FALSE(make(options()));
  EXPECT_NE(error_.find(folder() + ": it exists already"), std::string::npos) << error_;
  EXPECT_EQ(fs::file_size(folder() + "/metadata"), std::strlen("somebody's"));
}

TEST_F(ctf_sink_files, are_refused_in_one_sentence_where_they_cannot_be_made) {
  CtfSinkOptions nowhere = options();
  nowhere.output_directory += "/missing";
  EXPECT_FALSE(make(nowhere));
  EXPECT_EQ(error_, "cannot create the trace folder " + nowhere.output_directory +
                        "/trace: No such file or directory");
}

TEST_F(ctf_sink_files, begin_only_within_the_budget_and_leave_nothing_behind_else) {
  CtfSinkOptions small = options();
  small.max_bytes = 8192;
  EXPECT_FALSE(make(small));
  EXPECT_NE(error_.find("output.max_bytes (8192 bytes)"), std::string::npos) << error_;
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(ctf_sink_files, go_on_when_the_host_has_closed_every_descriptor_and_reused_the_numbers) {
  const auto sink = make(heard_options());
  ASSERT_TRUE(sink) << error_;
  feed(*sink, 20'000);
  const std::string victim = directory_ + "/database";
  const int host_fd = ::open(victim.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(host_fd, 0);
  const std::vector<int> ours = descriptors_below(folder());
  ASSERT_EQ(ours.size(), 1U);
  ASSERT_EQ(::dup2(host_fd, ours[0]), ours[0]);

  feed(*sink, 20'000);
  finish(*sink, 40'000);
  EXPECT_EQ(fs::file_size(victim), 0U);
  EXPECT_EQ(::fcntl(ours[0], F_GETFD), 0) << "the host's descriptor was closed";
  ::close(ours[0]);
  ::close(host_fd);
  const CtfTrace trace = read_ctf_trace(folder());
  EXPECT_TRUE(trace.is_continuous());
  EXPECT_EQ(trace.operators, 40'000U);
  EXPECT_EQ(heard.times, 0);
}

TEST_F(ctf_sink_files, that_somebody_removed_or_cut_are_given_up) {
  const auto sink = make(heard_options());
  ASSERT_TRUE(sink) << error_;
  feed(*sink, 5000);
  flush(*sink);
  fs::resize_file(folder() + "/stream-000000", 4096);
  feed(*sink, 5000);
  flush(*sink);
  EXPECT_EQ(heard.times, 1);
  EXPECT_NE(heard.sentence.find("/stream-000000: "), std::string::npos) << heard.sentence;
  EXPECT_EQ(sum(sink->counts()), 10'000U);
  EXPECT_EQ(sink->counts().lost_disk_full, 5000U);
  fs::remove_all(folder());
  feed(*sink, 5000);
  finish(*sink, 15'000);
  EXPECT_EQ(sum(sink->counts()), 15'000U);
  EXPECT_EQ(heard.times, 1);
}

/// Runs in a process of its own, with a limit that a file of the trace will reach.
[[noreturn]] void write_beyond_the_size_limit(Sink& sink, const std::function<void()>& write) {
  const rlimit limit{50'000, 50'000};
  std::signal(SIGXFSZ, SIG_DFL);
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) std::_Exit(1);
  write();
  sigset_t pending;
  ::sigpending(&pending);
  std::_Exit(::sigismember(&pending, SIGXFSZ) == 0 && sink.counts().lost_disk_full > 0 ? 0 : 2);
}

TEST_F(ctf_sink_files, stop_at_the_size_limit_without_the_signal_that_would_kill_the_host) {
  const auto sink = make(options());
  ASSERT_TRUE(sink) << error_;
  const auto write = [&] {
    feed(*sink, 20'000);
    finish(*sink, 20'000);
  };
  EXPECT_EXIT(write_beyond_the_size_limit(*sink, write), testing::ExitedWithCode(0), "");
  const CtfTrace trace = read_ctf_trace(folder());
  EXPECT_EQ(fs::file_size(folder() + "/stream-000000"), 50'000U / 4096 * 4096);
  ASSERT_EQ(trace.receipts.size(), 1U);
  EXPECT_EQ(trace.receipts[0].written, trace.operators);
  EXPECT_EQ(trace.receipts[0].written + trace.receipts[0].lost_disk_full, 20'000U);
  EXPECT_EQ(trace.packets.back().events_discarded, trace.receipts[0].lost_disk_full);
}

}  // namespace
}  // namespace torchtrace::flush
