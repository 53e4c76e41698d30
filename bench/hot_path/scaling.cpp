// Times one small operator on many threads, and over many operators, with each variant of the
// switch in interleaved rounds; prints all times as JSON.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <CLI/CLI.hpp>
#include <c10/core/GradMode.h>
#include <nlohmann/json.hpp>
#include <pthread.h>
#include <torch/version.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "hot_path/measuring.h"
#include "switch/switch.h"

namespace torchtrace::bench {

namespace {

struct Arguments {
  int rounds = 21;
  std::vector<int> threads = {1, 2, 4, 8, 16, 32, 64};
  std::uint64_t operators = 10'000'000;
};

/// Operators per thread and measurement: few enough that no ring overflows before it is drained.
constexpr int kOperatorsPerThread = 2000;

/// An operator as short as they get, on tensors of the calling thread's own.
class SmallOperator {
 public:
  void run(std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) x_.add_(y_);
  }

 private:
  c10::NoGradGuard no_grad_;
  at::Tensor x_ = at::zeros({1});
  at::Tensor y_ = at::ones({1});
};

/// Threads that run the operator at the same time, each time they are told to.
class Crew {
 public:
  explicit Crew(std::size_t threads) : cpu_ns_(threads) {
    pthread_barrier_init(&barrier_, nullptr, static_cast<unsigned>(threads + 1));
    for (std::size_t index = 0; index < threads; ++index) {
      threads_.emplace_back([this, index] { work(index); });
    }
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew() {
    is_over_.store(true);
    wait();
    for (std::thread& thread : threads_) thread.join();
    pthread_barrier_destroy(&barrier_);
  }

  /// CPU time per operator, of all threads together.
  double ns_per_operator() {
    wait();
    wait();
    std::uint64_t sum_ns = 0;
    for (const std::uint64_t ns : cpu_ns_) sum_ns += ns;
    return static_cast<double>(sum_ns) /
           (static_cast<double>(cpu_ns_.size()) * kOperatorsPerThread);
  }

 private:
  void wait() { pthread_barrier_wait(&barrier_); }

  void work(std::size_t index) {
    SmallOperator small;
    for (wait(); !is_over_.load(); wait()) {
      small.run(kOperatorsPerThread / 10);
      const std::uint64_t start_ns = cpu_time_ns();
      small.run(kOperatorsPerThread);
      cpu_ns_[index] = cpu_time_ns() - start_ns;
      wait();
    }
  }

  pthread_barrier_t barrier_{};
  std::atomic<bool> is_over_{false};
  std::vector<std::uint64_t> cpu_ns_;
  std::vector<std::thread> threads_;
};

nlohmann::json measure_threads(int threads, int rounds, std::mt19937& random) {
  Crew crew(static_cast<std::size_t>(threads));
  std::map<std::string, std::vector<double>> times;
  std::vector<std::string> order = {"none", "none_again", "floor", "torchtrace"};
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::string& name : order) {
      set_variant(name);
      times[name].push_back(crew.ns_per_operator());
      torchtrace_switch_drain();
    }
  }
  set_variant("none");
  return {{"threads", threads}, {"ns_per_operator", times}};
}

/// Operators per measurement once `done` have been recorded: enough measurements in each decade,
/// and fewer than a ring holds.
std::uint64_t chunk_after(std::uint64_t done) {
  return std::clamp<std::uint64_t>(done / 10, 1000, 20'000);
}

/// The same operator without and with recording by turns, until so many have been recorded.
nlohmann::json measure_operators(std::uint64_t operators) {
  SmallOperator small;
  nlohmann::json chunks = nlohmann::json::array();
  std::vector<std::string> order = {"floor", "torchtrace"};
  for (std::uint64_t done = 0; done < operators;) {
    const std::uint64_t chunk = std::min(chunk_after(done), operators - done);
    nlohmann::json times = {{"recorded_before", done}};
    std::reverse(order.begin(), order.end());
    for (const std::string& name : order) {
      set_variant(name);
      const std::uint64_t start_ns = cpu_time_ns();
      small.run(chunk);
      times[name] = static_cast<double>(cpu_time_ns() - start_ns) / static_cast<double>(chunk);
    }
    chunks.push_back(std::move(times));
    done += chunk;
    set_variant("none");
    torchtrace_switch_drain();
  }
  return chunks;
}

nlohmann::json measure(const Arguments& arguments) {
  at::set_num_threads(1);
  throw_if(torchtrace_switch_open());
  nlohmann::json result = {{"torch", TORCH_VERSION},
                           {"operators", measure_operators(arguments.operators)},
                           {"threads", nlohmann::json::array()}};
  std::mt19937 random(42);
  for (const int threads : arguments.threads) {
    result["threads"].push_back(measure_threads(threads, arguments.rounds, random));
  }
  torchtrace_switch_close();
  std::uint64_t started = 0;
  std::uint64_t dropped = 0;
  torchtrace_switch_counts(&started, &dropped);
  result["started"] = started;
  result["dropped"] = dropped;
  return result;
}

}  // namespace

}  // namespace torchtrace::bench

int main(int argc, char** argv) {
  torchtrace::bench::Arguments arguments;
  CLI::App app("Times an operator on many threads, and many operators on one");
  app.add_option("--rounds", arguments.rounds, "Measurements per variant and number of threads");
  app.add_option("--threads", arguments.threads, "Numbers of threads, comma-separated")
      ->delimiter(',');
  app.add_option("--operators", arguments.operators, "To be recorded on one thread");
  try {
    CLI11_PARSE(app, argc, argv);
    std::cout << torchtrace::bench::measure(arguments) << '\n';
  } catch (const std::exception& error) {
    std::cerr << "scaling: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
