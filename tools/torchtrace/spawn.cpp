#include "spawn.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace torchtrace::cli {
namespace {

void redirect(int output_fd) {
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  dup2(output_fd, STDOUT_FILENO);
  dup2(output_fd, STDERR_FILENO);
}

/// Runs in the child and does not return: becomes the program or writes errno to `error_fd`.
[[noreturn]] void become(const SpawnRequest& request, pid_t parent, int error_fd, char** words,
                         char** environment) {
  if (request.is_detached) setsid();
  if (request.signal_at_our_death != 0) {
    prctl(PR_SET_PDEATHSIG, request.signal_at_our_death);
    if (getppid() != parent) _exit(1);  // it died before the line above
  }
  if (request.output_fd >= 0) redirect(request.output_fd);
  request.signals.restore();
  execvpe(words[0], words, environment);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(error_fd, &error, sizeof(error));
  _exit(127);
}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// What execve failed with, or 0: the pipe's other end closes when it succeeds.
int read_error(int fd) {
  int error = 0;
  ssize_t count = 0;
  do {
    count = read(fd, &error, sizeof(error));
  } while (count < 0 && errno == EINTR);
  return count == sizeof(error) ? error : 0;
}

}  // namespace

SpawnResult spawn(const SpawnRequest& request) {
  std::vector<char*> words = pointers_to(request.words);
  std::vector<char*> environment = request.environment.pointers();
  int error_pipe[2];
  if (pipe2(error_pipe, O_CLOEXEC) != 0) return {-1, errno};
  const pid_t parent = getpid();
  const pid_t pid = fork();
  const int fork_error = errno;
  if (pid == 0) become(request, parent, error_pipe[1], words.data(), environment.data());
  close(error_pipe[1]);
  const int error = pid < 0 ? fork_error : read_error(error_pipe[0]);
  close(error_pipe[0]);
  if (error == 0) return {pid, 0};
  if (pid > 0) waitpid(pid, nullptr, 0);
  return {-1, error};
}

}  // namespace torchtrace::cli
