// Google Benchmark: what a push into a queue of 64-byte records costs, and taking them out again.
//
// Producers push a burst, each on its own CPU; then the consumer, on a thread of its own, drains,
// as a flush thread does that sleeps in between. A consumer that spins would cost more than all
// that is compared: a line of memory takes 200 ns from one CPU to another.
#include <benchmark/benchmark.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "core/clock.h"
#include "ring/other_queues.h"
#include "ring/torchtrace_ring.h"

namespace torchtrace::bench {

namespace {

constexpr std::uint64_t kBurst = 8192;
constexpr std::uint64_t kColdBurst = 1024;  ///< Evicting takes a hundred times as long as pushing.

/// Larger than first-level caches, so that reading all of it leaves nothing else there.
constexpr std::size_t kThrashedBytes = std::size_t{48} << 10U;
constexpr std::size_t kLineBytes = 64;

/// Where the consumer runs, and what happens between two pushes.
enum class Setting : std::uint8_t {
  kSameCpu,  ///< On the producer's CPU: the ring's memory never leaves that one's caches.
  kHot,      ///< On another CPU, as in a traced program: each line has to come back from there.
  kCold,     ///< The same, and an operator evicts the first-level cache between two pushes.
};

void stay_on_cpu(std::size_t index) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(index % std::thread::hardware_concurrency(), &cpus);
  sched_setaffinity(0, sizeof(cpus), &cpus);
}

/// CPU time of the calling thread: what it waits for a CPU is the machine's affair.
std::uint64_t cpu_time_ns() { return core::clock_ns(CLOCK_THREAD_CPUTIME_ID); }

class Barrier {
 public:
  explicit Barrier(std::size_t threads) {
    pthread_barrier_init(&barrier_, nullptr, static_cast<unsigned>(threads));
  }
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;
  ~Barrier() { pthread_barrier_destroy(&barrier_); }
  void wait() { pthread_barrier_wait(&barrier_); }

 private:
  pthread_barrier_t barrier_{};
};

/// A queue, and the thread that drains it after each burst.
template <class Queue>
class Rig {
 public:
  Rig(std::size_t producers, std::size_t consumer_cpu)
      : queue(producers),
        barrier_(producers + 1),
        consumer_([this, consumer_cpu] { consume(consumer_cpu); }) {}
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;
  ~Rig() { consumer_.join(); }

  /// Each producer calls this after its burst. Returns when the queue is empty again; `is_last`
  /// ends the consumer.
  void drain(bool is_last) {
    if (is_last) is_last_.store(true);
    barrier_.wait();
    barrier_.wait();
  }

  double drain_ns_per_record() const {
    return records_ == 0 ? 0.0 : static_cast<double>(drain_ns_) / static_cast<double>(records_);
  }

  Queue queue;

 private:
  void consume(std::size_t cpu) {
    stay_on_cpu(cpu);
    Records copies(kCapacity);
    for (bool is_last = false; !is_last;) {
      barrier_.wait();
      is_last = is_last_.load();
      const std::uint64_t start_ns = cpu_time_ns();
      std::size_t at = 0;
      queue.drain([&](const core::Record* first, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) copies[at++ % kCapacity] = first[i];
      });
      benchmark::DoNotOptimize(copies.data());
      benchmark::ClobberMemory();
      drain_ns_ += cpu_time_ns() - start_ns;
      records_ += at;
      barrier_.wait();
    }
  }

  Barrier barrier_;
  std::atomic<bool> is_last_{false};
  std::uint64_t drain_ns_ = 0;
  std::uint64_t records_ = 0;
  std::thread consumer_;
};

/// What an operator that works on some data does to the caches.
class Thrash {
 public:
  void operator()() {
    std::uint64_t sum = 0;
    for (std::size_t at = 0; at < bytes_.size(); at += kLineBytes) sum += bytes_[at];
    benchmark::DoNotOptimize(sum);
  }

 private:
  std::vector<unsigned char> bytes_ = std::vector<unsigned char>(kThrashedBytes, 1);
};

constexpr std::uint64_t burst_of(Setting setting) {
  return setting == Setting::kCold ? kColdBurst : kBurst;
}

template <class Queue, Setting setting>
std::uint64_t push_burst(typename Queue::Producer& producer, Thrash& thrash) {
  std::uint64_t refused = 0;
  for (std::uint64_t count = 0; count < burst_of(setting); ++count) {
    if (setting == Setting::kCold) thrash();
    refused += producer.push(count) ? 0 : 1;
  }
  return refused;
}

/// CPU time of this thread for all bursts but the first, which meets memory that nobody has
/// touched.
template <class Queue, Setting setting>
std::uint64_t push_all(benchmark::State& state, Rig<Queue>& rig) {
  typename Queue::Producer producer(rig.queue, static_cast<std::size_t>(state.thread_index()));
  Thrash thrash;
  std::uint64_t pushed_ns = 0;
  std::uint64_t refused = 0;
  benchmark::IterationCount bursts = 0;
  do {
    const std::uint64_t start_ns = cpu_time_ns();
    refused += push_burst<Queue, setting>(producer, thrash);
    if (bursts++ != 0) pushed_ns += cpu_time_ns() - start_ns;
    rig.drain(bursts == state.max_iterations);
  } while (state.KeepRunning());
  if (refused != 0) state.SkipWithError("the queue was full: a refused push is cheap");
  return pushed_ns;
}

template <class Queue, Setting setting>
void push(benchmark::State& state) {
  // Stays until the next one is made: the producers of other threads may outlive this thread's.
  static std::unique_ptr<Rig<Queue>> rig;
  if (state.thread_index() == 0) {
    rig = std::make_unique<Rig<Queue>>(
        static_cast<std::size_t>(state.threads()),
        setting == Setting::kSameCpu ? 0 : std::thread::hardware_concurrency() - 1);
  }
  stay_on_cpu(static_cast<std::size_t>(state.thread_index()));
  if (!state.KeepRunning()) return;  // lets no thread pass before all have come here
  const std::uint64_t pushed_ns = push_all<Queue, setting>(state, *rig);
  const auto pushes = (static_cast<std::uint64_t>(state.max_iterations) - 1) * burst_of(setting);
  state.counters["push_ns"] =
      benchmark::Counter(static_cast<double>(pushed_ns) / static_cast<double>(pushes),
                         benchmark::Counter::kAvgThreads);
  if (state.thread_index() == 0) state.counters["drain_ns"] = rig->drain_ns_per_record();
}

constexpr benchmark::IterationCount kBursts = 17;

using DefaultTraits = moodycamel::ConcurrentQueueDefaultTraits;
using MoodycamelToken = Moodycamel<DefaultTraits, Token::kWith>;
using MoodycamelTokenLargeBlocks = Moodycamel<LargeBlocks, Token::kWith>;
using MoodycamelNoToken = Moodycamel<DefaultTraits, Token::kWithout>;

#define TORCHTRACE_BENCH_PUSH(Queue, setting, name)  \
  BENCHMARK_TEMPLATE(push, Queue, setting)           \
      ->Name(std::string(name) + "/" + Queue::kName) \
      ->Iterations(kBursts)

#define TORCHTRACE_BENCH_QUEUE(Queue)                                    \
  TORCHTRACE_BENCH_PUSH(Queue, Setting::kSameCpu, "same_cpu");           \
  TORCHTRACE_BENCH_PUSH(Queue, Setting::kHot, "hot")->ThreadRange(1, 2); \
  TORCHTRACE_BENCH_PUSH(Queue, Setting::kCold, "cold")->ThreadRange(1, 2)

TORCHTRACE_BENCH_QUEUE(NoQueue);
TORCHTRACE_BENCH_QUEUE(ArrayStore);
TORCHTRACE_BENCH_QUEUE(TorchtraceRing);
TORCHTRACE_BENCH_QUEUE(MoodycamelToken);
TORCHTRACE_BENCH_QUEUE(MoodycamelTokenLargeBlocks);
TORCHTRACE_BENCH_QUEUE(MoodycamelNoToken);
TORCHTRACE_BENCH_QUEUE(ReaderWriterQueue);
TORCHTRACE_BENCH_QUEUE(MutexDeque);

}  // namespace

}  // namespace torchtrace::bench

BENCHMARK_MAIN();
