#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "core/descriptor.h"
#include "core/log.h"
#include "core/process_stat.h"

/// What ours does in a process that is not ours must not be felt there.
namespace torchtrace::core {
namespace {

/// Exit status of `body` in a child, or minus the signal that killed it.
template <class Body>
int status_of_child(Body&& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

void close_the_reader_of_stderr() {
  int ends[2];
  if (pipe(ends) != 0) _exit(99);
  dup2(ends[1], STDERR_FILENO);
  close(ends[0]);
  close(ends[1]);
}

TEST(say, does_not_kill_a_program_whose_stderr_nobody_reads) {
  EXPECT_EQ(status_of_child([] {
              close_the_reader_of_stderr();
              say("to nobody");
            }),
            0);
}

TEST(say, leaves_a_signal_that_was_pending_before) {
  EXPECT_EQ(status_of_child([] {
              sigset_t pipe_signal;
              sigemptyset(&pipe_signal);
              sigaddset(&pipe_signal, SIGPIPE);
              pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);
              pthread_kill(pthread_self(), SIGPIPE);
              say("a line");
              pthread_sigmask(SIG_UNBLOCK, &pipe_signal, nullptr);
            }),
            -SIGPIPE);
}

TEST(move_descriptor, stays_clear_of_the_standard_streams) {
  EXPECT_EQ(status_of_child([] {
              close(STDIN_FILENO);
              const int fd = open("/dev/null", O_RDONLY);
              const int moved = move_descriptor(fd);
              if (fd != STDIN_FILENO || moved <= STDERR_FILENO) _exit(1);
              if (fcntl(STDIN_FILENO, F_GETFD) >= 0) _exit(2);
            }),
            0);
}

TEST(process_stat, tells_a_stopped_process_from_a_running_one) {
  const pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  kill(child, SIGSTOP);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  EXPECT_EQ(process_state(child), 'T');
  EXPECT_GE(process_start_time(child), process_start_time(getpid()));
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  EXPECT_EQ(process_state(child), '?');
  EXPECT_EQ(process_start_time(child), 0U);
  EXPECT_EQ(process_state(getpid()), 'R');
}

}  // namespace
}  // namespace torchtrace::core
