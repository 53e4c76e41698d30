#include <gtest/gtest.h>
#include <link.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "core/loader_lists.h"

/// A fork beside a thread that is inside the loader.
namespace torchtrace::core {
namespace {

constexpr unsigned kHangs_s = 2;
constexpr time_t kPatience_s = 10;

timespec patience() {
  timespec limit{};
  clock_gettime(CLOCK_MONOTONIC, &limit);
  limit.tv_sec += kPatience_s;
  return limit;
}

/// A thread that is inside dl_iterate_phdr: for ever, or over and over with short breaks.
class LoaderReader {
 public:
  explicit LoaderReader(bool stays_inside)
      : stays_inside_(stays_inside), thread_([this] { run(); }) {
    while (!is_inside_.load()) std::this_thread::yield();
  }
  ~LoaderReader() {
    must_leave_.store(true);
    thread_.join();
  }
  LoaderReader(const LoaderReader&) = delete;
  LoaderReader& operator=(const LoaderReader&) = delete;

 private:
  static int stay(dl_phdr_info* /*info*/, std::size_t /*size*/, void* reader) {
    auto& self = *static_cast<LoaderReader*>(reader);
    self.is_inside_.store(true);
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } while (self.stays_inside_ && !self.must_leave_.load());
    return 1;
  }
  void run() {
    while (!must_leave_.load()) {
      dl_iterate_phdr(stay, this);
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }

  bool stays_inside_;
  std::atomic<bool> is_inside_{false};
  std::atomic<bool> must_leave_{false};
  std::thread thread_;
};

int read_nothing(dl_phdr_info* /*info*/, std::size_t /*size*/, void* /*unused*/) { return 1; }

/// Exit code of a child that reads the loader's lists, or minus the signal that ended its hanging.
int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

[[noreturn]] void read_in_child() {
  alarm(kHangs_s);
  dl_iterate_phdr(read_nothing, nullptr);
  _exit(0);
}

int fork_with_lists_held() {
  const bool is_held = hold_loader_lists(patience());
  const pid_t child = fork();
  if (child == 0) {
    renew_loader_lists();
    read_in_child();
  }
  if (is_held) release_loader_lists();
  return is_held ? status_of(child) : -1;
}

TEST(loader_lists, a_fork_beside_a_reader_leaves_them_locked_unless_they_are_held) {
  const LoaderReader reader(true);
  const pid_t child = fork();
  if (child == 0) read_in_child();
  EXPECT_EQ(status_of(child), -SIGALRM) << "this libc renews the lock by itself: say so in the "
                                           "header, and hold it only where it does not";
}

TEST(loader_lists, a_child_can_read_them_if_they_were_held_across_the_fork) {
  find_loader_lists_lock();
  const LoaderReader reader(false);
  for (int number = 0; number < 100; ++number) ASSERT_EQ(fork_with_lists_held(), 0) << number;
}

TEST(loader_lists, can_be_held_and_released_again) {
  find_loader_lists_lock();
  for (int number = 0; number < 3; ++number) {
    ASSERT_TRUE(hold_loader_lists(patience()));
    dl_iterate_phdr(read_nothing, nullptr);
    release_loader_lists();
  }
  const LoaderReader reader(false);  // another thread can have them
}

TEST(loader_lists, a_child_can_read_them_though_they_could_not_be_had) {
  find_loader_lists_lock();
  const LoaderReader reader(true);
  timespec at_once{};
  ASSERT_FALSE(hold_loader_lists(at_once));
  const pid_t child = fork();
  if (child == 0) {
    renew_loader_lists();
    read_in_child();
  }
  EXPECT_EQ(status_of(child), 0);
}

}  // namespace
}  // namespace torchtrace::core
