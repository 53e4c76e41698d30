// Drives the real flush thread with synthetic records: as fast as it takes them, or at a given
// rate. The configuration comes from the environment, as the agent's does. Prints one JSON object.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "flush/synthetic_producer.h"
#include "switch/recording_process.h"

namespace torchtrace::bench {

namespace {

using SteadyClock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// A program that had to wait for a CPU does not catch up on the operators it has not run.
constexpr double kLongestBurst_s = 0.002;

struct Arguments {
  std::uint64_t records = 1'000'000;  ///< Of all producers together.
  std::uint64_t rate = 0;  ///< Records per second of all producers; 0: as fast as they go.
  unsigned producers = 1;
};

/// At a rate: some records each half millisecond, like a program whose operators come one by one.
/// Without one: no record is pushed before there is room for it, so the time is the flush thread's.
void produce(core::Process& process, const Arguments& arguments) {
  SyntheticProducer producer(process);
  const std::uint64_t records = arguments.records / arguments.producers;
  if (arguments.rate == 0) return producer.push_all(records);
  const double per_second = static_cast<double>(arguments.rate) / arguments.producers;
  auto last = SteadyClock::now();
  for (std::uint64_t done = 0; done < records;) {
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    const auto now = SteadyClock::now();
    const double elapsed_s = std::min(Seconds(now - last).count(), kLongestBurst_s);
    last = now;
    const auto due = static_cast<std::uint64_t>(elapsed_s * per_second);
    producer.push(due);
    done += due;
  }
}

/// CPU time so far of the flush thread, which has no handle but its name.
double flush_thread_cpu_seconds() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    std::uint64_t cpu_ns = 0;
    if (name == "torchtrace-sink" && std::ifstream(task.path() / "schedstat") >> cpu_ns) {
      return static_cast<double>(cpu_ns) * 1e-9;
    }
  }
  throw std::runtime_error("the flush thread is not to be found in /proc/self/task");
}

/// Memory of this process that is present, shared memory included. Units: bytes.
std::uint64_t resident_bytes() {
  std::uint64_t total_pages = 0;
  std::uint64_t resident_pages = 0;
  std::ifstream("/proc/self/statm") >> total_pages >> resident_pages;
  return resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

nlohmann::json run(const Arguments& arguments) {
  const std::uint64_t resident_before = resident_bytes();
  RecordingProcess recording = RecordingProcess::start(load_configuration());
  // Past the flush thread's first clock anchor: what comes before is only held back.
  SyntheticProducer(*recording.process).push(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const double flush_seconds_before = flush_thread_cpu_seconds();
  const auto start = SteadyClock::now();
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < arguments.producers; ++i) {
    threads.emplace_back([&] { produce(*recording.process, arguments); });
  }
  for (std::thread& thread : threads) thread.join();
  recording.wait_until_drained();
  const double seconds = Seconds(SteadyClock::now() - start).count();
  const double flush_seconds = flush_thread_cpu_seconds() - flush_seconds_before;
  const std::uint64_t resident_after = resident_bytes();
  recording.finish();
  const RecordingProcess::Counts counts = recording.counts();
  return {{"records", counts.started},
          {"dropped", counts.dropped},
          {"seconds", seconds},
          {"flush_cpu_seconds", flush_seconds},
          {"added_bytes", resident_after - resident_before}};
}

void declare(CLI::App& app, Arguments& arguments) {
  app.add_option("--records", arguments.records, "Records of all producers together");
  app.add_option("--rate", arguments.rate, "Records per second; 0: as fast as they are taken");
  app.add_option("--producers", arguments.producers, "Threads that push")->check(CLI::Range(1, 64));
}

}  // namespace

}  // namespace torchtrace::bench

int main(int argc, char** argv) {
  torchtrace::bench::Arguments arguments;
  CLI::App app("Drives the flush thread with synthetic records");
  torchtrace::bench::declare(app, arguments);
  try {
    CLI11_PARSE(app, argc, argv);
    std::cout << torchtrace::bench::run(arguments) << '\n';
  } catch (const std::exception& error) {
    std::cerr << "flush_load: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
