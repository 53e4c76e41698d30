#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <thread>
#include <vector>

#include "work.h"

/// Children, made in every way and at bad moments.
namespace torchtrace::test {

namespace {

constexpr int kForks = 12;
constexpr int kThreads = 2;
constexpr int kChildCode = 9;
/// A child that hangs is ended by SIGALRM, which the parent then prints.
constexpr unsigned kPatience_s = 20;

extern "C" int __cxa_atexit(void (*)(void*), void*, void*);  // NOLINT: libc's own name
extern "C" void __cxa_finalize(void*);                       // NOLINT

void do_nothing(void* /*unused*/) {}

/// Keeps libc's list of exit handlers busy, without making it longer.
void register_exit_handler() {
  static int library;
  __cxa_atexit(do_nothing, nullptr, &library);
  __cxa_finalize(&library);
}

void load_library() {
  for (const char* name : {"libutil.so.1", "libanl.so.1"}) {
    void* library = dlopen(name, RTLD_NOW);
    if (library != nullptr) dlclose(library);
  }
}

using Statuses = std::map<int, int>;

void print_statuses(const char* what, const Statuses& statuses) {
  std::printf("%s:", what);
  for (const auto& [status, count] : statuses) std::printf(" %d times %d", count, status);
  std::printf("\n");
}

int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// In the child: operators, a child of its own, and off without exit handlers.
[[noreturn]] void be_child(int count) {
  alarm(kPatience_s);
  loop(count);
  const pid_t grandchild = fork();
  if (grandchild == 0) _exit(0);
  _exit(status_of(grandchild) == 0 ? kChildCode : 1);
}

/// Threads that do the same thing over and over, and between that run operators, `count` each.
class Disturbers {
 public:
  Disturbers(void (*disturb)(), int count) : disturb_(disturb), count_(count) {
    for (int number = 0; number < kThreads; ++number) {
      threads_.emplace_back([this] { run(); });
    }
  }

  void start_tracing() { may_trace_.store(true); }

  void join() {
    must_stop_.store(true);
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  static constexpr int kDisturbancesPerOperator = 16;

  void run() {
    int done = 0;
    while (!must_stop_.load()) {
      for (int again = 0; again < kDisturbancesPerOperator; ++again) disturb_();
      if (may_trace_.load() && done < count_) loop(1), ++done;
    }
    for (; done < count_; ++done) loop(1);
  }

  void (*disturb_)();
  int count_;
  std::atomic<bool> may_trace_{false};
  std::atomic<bool> must_stop_{false};
  std::vector<std::thread> threads_;
};

void fork_children(int forks, int count, Statuses& statuses) {
  for (int number = 0; number < forks; ++number) {
    const pid_t child = fork();
    if (child == 0) be_child(count);
    ++statuses[status_of(child)];
  }
}

/// Half of the children are made while no thread has been in a scope yet. Operators there were: the
/// first ones make objects of PyTorch's own, and would hang in such a child, whoever watches.
int fork_beside(void (*disturb)(), int count) {
  Statuses statuses;
  warm_up();
  Disturbers disturbers(disturb, count);
  fork_children(kForks / 2, count, statuses);
  loop(count);
  disturbers.start_tracing();
  fork_children(kForks / 2, count, statuses);
  disturbers.join();
  print_statuses("children", statuses);
  return 0;
}

/// Each fork meets threads at their first operator, where PyTorch copies its list of callbacks.
int fork_beside_new_threads(int count) {
  Statuses statuses;
  for (int number = 0; number < kForks; ++number) {
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int thread = 0; thread < kThreads; ++thread) threads.emplace_back(loop, count);
    fork_children(1, count, statuses);
    for (std::thread& thread : threads) thread.join();
  }
  print_statuses("children", statuses);
  return 0;
}

/// A chain of children; the n-th runs count * n operators before it has a child, and as many after.
[[noreturn]] void nest(int count, int level) {
  constexpr int kLevels = 4;
  loop(count * level);
  int below = 0;
  if (level < kLevels) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) nest(count, level + 1);
    below = status_of(child);
  }
  loop(count * level);
  const int code = below + level;
  if (level == 1) std::printf("nested %d\n", code);
  if (level == 2) _exit(code);
  if (level == 3) std::quick_exit(code);
  std::exit(code);
}

[[noreturn]] void become_loop(int count, char* program) {
  char kind[] = "loop";
  char number[16];
  std::snprintf(number, sizeof(number), "%d", count);
  char* const arguments[] = {program, kind, number, nullptr};
  std::fflush(stdout);
  execv(program, arguments);
  _exit(1);
}

/// A child that runs operators and then becomes a program that does, too.
int fork_and_exec(int count, char* program) {
  loop(count);
  const pid_t child = fork();
  if (child == 0) {
    loop(count);
    become_loop(2 * count, program);
  }
  const int status = status_of(child);
  loop(count);
  std::printf("child %d\n", status);
  return 0;
}

pid_t spawn_loop(int count, char* program) {
  char kind[] = "loop";
  char number[16];
  std::snprintf(number, sizeof(number), "%d", count);
  char* const arguments[] = {program, kind, number, nullptr};
  pid_t child = 0;
  posix_spawn(&child, program, nullptr, nullptr, arguments, environ);
  return child;
}

/// Children that share this process's memory until they become something else or end.
int spawn(int count, char* program) {
  loop(count);
  std::fflush(stdout);
  const pid_t leaves = vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork)
  if (leaves == 0) _exit(kChildCode);
  const int left = status_of(leaves);
  loop(count);
  const int ran = status_of(spawn_loop(2 * count, program));
  const int shell = std::system("exit 3");  // NOLINT(cert-env33-c)
  loop(count);
  std::printf("vfork %d spawn %d shell %d\n", left, ran, WEXITSTATUS(shell));
  return 0;
}

}  // namespace

int children(const std::string& kind, int count, char* program) {
  if (kind == "fork_beside_exit_handlers") return fork_beside(register_exit_handler, count);
  if (kind == "fork_beside_loader") return fork_beside(load_library, count);
  if (kind == "fork_beside_callbacks") return fork_beside(add_and_remove_callback, count);
  if (kind == "fork_beside_new_threads") return fork_beside_new_threads(count);
  if (kind == "nested_forks") nest(count, 1);
  if (kind == "fork_and_exec") return fork_and_exec(count, program);
  if (kind == "exec") {
    std::printf("before %g\n", loop(count));
    become_loop(2 * count, program);
  }
  if (kind == "spawn") return spawn(count, program);
  return -1;
}

}  // namespace torchtrace::test
