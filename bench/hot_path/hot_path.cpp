// Times the workloads with each variant of the switch in interleaved rounds, and prints all times
// as JSON.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <random>

#include "hot_path/workloads.h"
#include "switch/switch.h"

namespace torchtrace::bench {

namespace {

struct Arguments {
  int rounds = 101;
  std::string only;            ///< Substring of the workloads' names.
  bool is_left_alone = false;  ///< Whoever preloads something decides what is measured.
  int variant = kSwitchNone;   ///< Left alone: what to register once.
};

/// `none` stands twice in each round: its mean is the base, and its difference shows the noise.
constexpr struct {
  const char* name;
  int variant;
} kVariants[] = {{"none", kSwitchNone},
                 {"none_again", kSwitchNone},
                 {"floor", kSwitchFloor},
                 {"torchtrace", kSwitchTorchtrace}};

/// This thread's CPU time: what it waits for a CPU is the machine's affair.
std::uint64_t cpu_time_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

double ns_per_call(const Workload& workload) {
  workload.run(workload.calls / 10 + 1);
  const std::uint64_t start_ns = cpu_time_ns();
  workload.run(workload.calls);
  return static_cast<double>(cpu_time_ns() - start_ns) / workload.calls;
}

/// Operators per call, as recorded: the workload's figure is a claim about PyTorch, not a constant.
void check_events(const Workload& workload) {
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  std::uint64_t dropped = 0;
  torchtrace_switch_counts(&before, &dropped);
  torchtrace_switch_set(kSwitchTorchtrace);
  workload.run(100);
  torchtrace_switch_set(kSwitchNone);
  torchtrace_switch_counts(&after, &dropped);
  if (after - before != 100U * static_cast<unsigned>(workload.events_per_call)) {
    throw std::runtime_error(workload.name + ": " + std::to_string(after - before) +
                             " operators in 100 calls");
  }
}

nlohmann::json measure_interleaved(const Workload& workload, int rounds, std::mt19937& random) {
  check_events(workload);
  std::map<std::string, std::vector<double>> times;
  std::vector<std::size_t> order = {0, 1, 2, 3};
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t index : order) {
      torchtrace_switch_set(kVariants[index].variant);
      times[kVariants[index].name].push_back(ns_per_call(workload));
    }
    torchtrace_switch_drain();
  }
  torchtrace_switch_set(kSwitchNone);
  return times;
}

nlohmann::json measure_left_alone(const Workload& workload, int rounds) {
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    times.push_back(ns_per_call(workload));
    // Longer than the flush thread's period: a preloaded agent's ring is drained in between.
    const timespec pause{0, 15'000'000};
    nanosleep(&pause, nullptr);
  }
  return {{"left_alone", times}};
}

void stay_on_this_cpu() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &cpus);
  sched_setaffinity(0, sizeof(cpus), &cpus);
}

void open_switch() {
  const char* why = torchtrace_switch_open();
  if (why != nullptr) throw std::runtime_error(why);
}

nlohmann::json measure(const Arguments& arguments) {
  const std::vector<Workload> workloads = make_workloads();
  const bool has_switch = !arguments.is_left_alone || arguments.variant != kSwitchNone;
  if (has_switch) open_switch();
  if (has_switch) torchtrace_switch_set(arguments.variant);
  stay_on_this_cpu();  // after the flush thread has been started, which shall be free
  std::mt19937 random(42);
  nlohmann::json result = {{"torch", torch_version()}, {"workloads", nlohmann::json::array()}};
  for (const Workload& workload : workloads) {
    if (!arguments.only.empty() && workload.name != arguments.only) continue;
    result["workloads"].push_back(
        {{"name", workload.name},
         {"events_per_call", workload.events_per_call},
         {"calls", workload.calls},
         {"ns_per_call", arguments.is_left_alone
                             ? measure_left_alone(workload, arguments.rounds)
                             : measure_interleaved(workload, arguments.rounds, random)}});
  }
  if (!has_switch) return result;
  torchtrace_switch_close();
  std::uint64_t started = 0;
  std::uint64_t dropped = 0;
  torchtrace_switch_counts(&started, &dropped);
  result["started"] = started;
  result["dropped"] = dropped;
  return result;
}

void declare(CLI::App& app, Arguments& arguments) {
  const std::map<std::string, int> variants = {
      {"none", kSwitchNone}, {"floor", kSwitchFloor}, {"torchtrace", kSwitchTorchtrace}};
  app.add_option("--rounds", arguments.rounds, "Measurements per variant");
  app.add_option("--only", arguments.only, "Time this workload alone");
  app.add_flag("--left-alone", arguments.is_left_alone, "Do not switch: measure what is there");
  app.add_option("--variant", arguments.variant, "With --left-alone: register this once")
      ->transform(CLI::Transformer(variants));
}

}  // namespace

}  // namespace torchtrace::bench

int main(int argc, char** argv) {
  torchtrace::bench::Arguments arguments;
  CLI::App app("Times operators without a callback, with an empty one and with torchtrace's");
  torchtrace::bench::declare(app, arguments);
  CLI11_PARSE(app, argc, argv);
  try {
    std::cout << torchtrace::bench::measure(arguments) << '\n';
  } catch (const std::exception& error) {
    std::cerr << "hot_path: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
