#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "work.h"

/// How a program can end, and what it may still run on its way out.
namespace torchtrace::test {

namespace {

constexpr int kExitCode = 4;
constexpr int kThreads = 3;

/// Operators run by destructors; 0 but for one kind of work.
int g_last_turns = 0;

struct LastWords {
  ~LastWords() {
    if (g_last_turns != 0) loop(g_last_turns);
  }
  void be_made() const {}
};

/// Made before the first operator, destroyed as the last but for what libraries have.
const LastWords kEarly;  // NOLINT(cert-err58-cpp)
thread_local LastWords t_words;

void run_last_turns() { loop(g_last_turns); }
void run_last_turns_of_key(void* /*value*/) { loop(g_last_turns); }

void end_with_thread_data(pthread_key_t early, pthread_key_t late) {
  t_words.be_made();
  pthread_setspecific(early, &t_words);
  pthread_setspecific(late, &t_words);
  loop(g_last_turns);
}

/// count operators each: here; in a thread, its thread_local object and its two thread-specific
/// data; in main's thread_local object, two exit handlers, two static objects.
int run_in_destructors(int count) {
  pthread_key_t early{};
  pthread_key_t late{};
  pthread_key_create(&early, run_last_turns_of_key);
  std::atexit(run_last_turns);
  g_last_turns = count;
  loop(count);
  static const LastWords kLate;
  std::atexit(run_last_turns);
  pthread_key_create(&late, run_last_turns_of_key);
  std::thread(end_with_thread_data, early, late).join();
  t_words.be_made();
  kLate.be_made();
  std::printf("leaving %d\n", count);
  return 0;
}

/// main ends as a thread does; the process lives on in the other one.
[[noreturn]] void main_leaves(int count) {
  std::thread([main_thread = pthread_self(), count] {
    pthread_join(main_thread, nullptr);
    std::printf("alone %g\n", loop(count));
    std::fflush(stdout);
  }).detach();
  pthread_exit(nullptr);
}

/// Threads that have run count operators each, and go on as they are told.
class Crew {
 public:
  explicit Crew(int count) : count_(count) {
    for (int number = 0; number < kThreads; ++number) {
      std::thread([this] { run(); }).detach();
    }
    while (ready_.load() != kThreads) usleep(1000);
  }

  void spin() { must_spin_.store(true); }

  /// After this nothing runs but the scopes that they hold open.
  void hold() {
    must_hold_.store(true);
    must_spin_.store(true);
    while (holding_.load() != kThreads) usleep(1000);
  }

 private:
  void run() {
    loop(count_);
    ready_.fetch_add(1);
    while (!must_spin_.load()) usleep(500);
    while (!must_hold_.load()) loop(1);
    loop_and_hold_open(count_, holding_);
  }

  int count_;
  std::atomic<int> ready_{0};
  std::atomic<int> holding_{0};
  std::atomic<bool> must_spin_{false};
  std::atomic<bool> must_hold_{false};
};

/// The threads run operators at the very moment at which the process ends.
[[noreturn]] void leave_busy_threads(const std::string& kind, int count) {
  auto* const crew = new Crew(count);
  std::printf("leaving threads\n");
  std::fflush(stdout);
  crew->spin();
  usleep(2000);
  if (kind == "busy_threads_quick_exit") std::quick_exit(kExitCode);
  _exit(kExitCode);
}

/// PyTorch's own static objects go while these threads are there, so they run nothing by then.
[[noreturn]] void leave_open_scopes(int count) {
  static Crew* const crew = new Crew(count);
  std::atexit([] { crew->hold(); });
  std::printf("leaving threads\n");
  std::exit(kExitCode);
}

void touch_forbidden_memory() {
  void* const page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *static_cast<volatile char*>(page) = 1;
}

[[noreturn]] void die(const std::string& kind, int count) {
  std::printf("turns %g\n", loop(count));
  std::fflush(stdout);
  usleep(1'100'000);  // many flush periods
  std::thread([&kind, count] {
    loop(count);
    if (kind == "segv") touch_forbidden_memory();
    std::abort();
  }).join();
  std::abort();
}

}  // namespace

int ways_to_end(const std::string& kind, int count) {
  if (kind == "destructors") return run_in_destructors(count);
  if (kind == "main_leaves") main_leaves(count);
  if (kind == "open_scopes") leave_open_scopes(count);
  if (kind.rfind("busy_threads_", 0) == 0) leave_busy_threads(kind, count);
  if (kind == "abort" || kind == "segv") die(kind, count);
  if (kind == "quick_exit") {
    std::printf("turns %g\n", loop(count));
    std::fflush(stdout);
    std::at_quick_exit([] { loop(10); });
    std::quick_exit(kExitCode);
  }
  return -1;
}

}  // namespace torchtrace::test
