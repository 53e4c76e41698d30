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
#include <stdexcept>
#include <string>
#include <vector>

#include "hot_path/measuring.h"
#include "hot_path/workloads.h"
#include "switch/switch.h"

namespace torchtrace::bench {

namespace {

struct Arguments {
  int rounds = 101;
  std::vector<std::string> only;  ///< Names of workloads; empty: all.
  bool is_left_alone = false;     ///< Whoever preloads something decides what is measured.
  std::string variant = "none";   ///< Left alone: what to register once.
  std::vector<std::string> variants = {"none", "floor", "torchtrace"};
};

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
  set_variant("torchtrace");
  workload.run(100);
  set_variant("none");
  torchtrace_switch_counts(&after, &dropped);
  if (after - before != std::uint64_t{100} * static_cast<unsigned>(workload.events_per_call)) {
    throw std::runtime_error(workload.name + ": " + std::to_string(after - before) +
                             " operators in 100 calls");
  }
}

/// `none` stands twice in each round: its mean is the base, and its difference shows the noise.
nlohmann::json measure_interleaved(const Workload& workload, const Arguments& arguments,
                                   std::mt19937& random) {
  check_events(workload);
  std::map<std::string, std::vector<double>> times;
  std::vector<std::string> order = arguments.variants;
  order.emplace_back("none_again");
  for (int round = 0; round < arguments.rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::string& name : order) {
      set_variant(name);
      times[name].push_back(ns_per_call(workload));
    }
    torchtrace_switch_drain();
  }
  set_variant("none");
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

bool is_chosen(const Workload& workload, const Arguments& arguments) {
  const auto& only = arguments.only;
  return only.empty() || std::find(only.begin(), only.end(), workload.name) != only.end();
}

nlohmann::json measure(const Arguments& arguments) {
  const std::vector<Workload> workloads = make_workloads();
  const bool has_switch = !arguments.is_left_alone || arguments.variant != "none";
  if (has_switch) throw_if(torchtrace_switch_open());
  if (has_switch) set_variant(arguments.variant);
  stay_on_this_cpu();  // after the flush thread has been started, which shall be free
  std::mt19937 random(42);
  nlohmann::json result = {{"torch", torch_version()}, {"workloads", nlohmann::json::array()}};
  for (const Workload& workload : workloads) {
    if (!is_chosen(workload, arguments)) continue;
    result["workloads"].push_back(
        {{"name", workload.name},
         {"events_per_call", workload.events_per_call},
         {"calls", workload.calls},
         {"ns_per_call", arguments.is_left_alone
                             ? measure_left_alone(workload, arguments.rounds)
                             : measure_interleaved(workload, arguments, random)}});
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
  app.add_option("--rounds", arguments.rounds, "Measurements per variant");
  app.add_option("--only", arguments.only, "Time the workload of this name; may be repeated");
  app.add_option("--variants", arguments.variants, "Those of the switch, comma-separated")
      ->delimiter(',');
  app.add_flag("--left-alone", arguments.is_left_alone, "Do not switch: measure what is there");
  app.add_option("--variant", arguments.variant, "With --left-alone: register this once");
}

}  // namespace

}  // namespace torchtrace::bench

int main(int argc, char** argv) {
  torchtrace::bench::Arguments arguments;
  CLI::App app("Times operators without a callback, with an empty one and with torchtrace's");
  torchtrace::bench::declare(app, arguments);
  try {
    CLI11_PARSE(app, argc, argv);
    std::cout << torchtrace::bench::measure(arguments) << '\n';
  } catch (const std::exception& error) {
    std::cerr << "hot_path: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
