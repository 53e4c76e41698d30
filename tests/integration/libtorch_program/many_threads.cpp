#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "work.h"

/// Threads that come and go, and more threads at once than there are buffers.
namespace torchtrace::test {

namespace {

constexpr int kTurns = 2;
constexpr int kWave = 50;

/// "TID NAME" per line goes to the file that THREADS_FILE names, if any: what the trace has to say.
class Roll {
 public:
  Roll() {
    const char* path = std::getenv("THREADS_FILE");
    if (path != nullptr) file_ = std::fopen(path, "w");
  }
  Roll(const Roll&) = delete;
  Roll& operator=(const Roll&) = delete;
  ~Roll() {
    if (file_ != nullptr) std::fclose(file_);
  }

  void enter(const char* name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (file_ != nullptr) std::fprintf(file_, "%ld %s\n", syscall(SYS_gettid), name);
  }

 private:
  std::mutex mutex_;
  std::FILE* file_ = nullptr;
};

void work_named(Roll& roll, int number) {
  char name[16];
  std::snprintf(name, sizeof(name), "worker %d", number);
  pthread_setname_np(pthread_self(), name);
  roll.enter(name);
  loop(kTurns);
}

/// `count` threads in waves; each wave has ended before the next one begins.
int come_and_go(int count) {
  Roll roll;
  for (int number = 0; number < count;) {
    std::vector<std::thread> wave;
    while (number < count && static_cast<int>(wave.size()) < kWave) {
      wave.emplace_back(work_named, std::ref(roll), number++);
    }
    for (std::thread& thread : wave) thread.join();
    usleep(15'000);  // buffers are taken back at most once per flush period
  }
  std::printf("%d came and went\n", count);
  return 0;
}

/// `count` threads that are all there before the first of them ends.
int crowd(int count) {
  pthread_barrier_t all_are_here;
  pthread_barrier_init(&all_are_here, nullptr, static_cast<unsigned>(count));
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int number = 0; number < count; ++number) {
    threads.emplace_back([&all_are_here] {
      loop(kTurns);
      pthread_barrier_wait(&all_are_here);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%d at once\n", count);
  return 0;
}

}  // namespace

int many_threads(const std::string& kind, int count) {
  if (kind == "come_and_go") return come_and_go(count);
  if (kind == "crowd") return crowd(count);
  return -1;
}

}  // namespace torchtrace::test
