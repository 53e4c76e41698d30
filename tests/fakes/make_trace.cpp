// make_trace OUTDIR --operators N --seed S ...: writes a trace of a training run that never took
// place, with the built-in CTF sink, and prints as JSON what a reader has to find in it.
#include <CLI/CLI.hpp>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "fakes/synthetic_process.h"
#include "fakes/synthetic_training.h"
#include "flush/ctf_sink.h"

namespace torchtrace::fakes {
namespace {

struct Arguments {
  std::string directory;
  std::string trace_name = "synthetic-4242-1";
  std::uint64_t operators = 1000;
  std::uint64_t seed = 1;
  std::uint64_t start_ns = 1'000'000'000'000;
  std::uint64_t max_bytes = 0;
  std::string when_full = "rotate";
  SyntheticProcessOptions process;
};

struct Totals {
  std::uint64_t calls = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t self_ns = 0;
};

void parse(CLI::App& app, Arguments& arguments) {
  app.add_option("directory", arguments.directory, "Output directory, which exists")->required();
  app.add_option("--operators", arguments.operators, "Operators in the run");
  app.add_option("--seed", arguments.seed, "Of their durations");
  app.add_option("--start-ns", arguments.start_ns, "CLOCK_MONOTONIC of the first");
  app.add_option("--name", arguments.trace_name, "Trace folder to create");
  app.add_option("--pid", arguments.process.pid, "Process id in the events");
  app.add_option("--hold-ns", arguments.process.hold_ns,
                 "Longer operators get op_begin and op_end");
  app.add_option("--late-every", arguments.process.late_every, "Emit each n-th operator late");
  app.add_flag("--real-time", arguments.process.real_time, "Take as long as the run would have");
  app.add_flag("--killed", arguments.process.killed, "No final receipt, open operators stay open");
  app.add_option("--max-bytes", arguments.max_bytes, "Budget of the directory; 0: none");
  app.add_option("--when-full", arguments.when_full)->check(CLI::IsMember({"rotate", "stop"}));
}

std::map<std::string, Totals> sum_up(const std::vector<SyntheticOperator>& operators) {
  std::map<std::string, Totals> sums;
  for (const SyntheticOperator& op : operators) {
    Totals& totals = sums[op.name];
    const std::uint64_t duration_ns = op.end_ns - op.begin_ns;
    ++totals.calls;
    totals.total_ns += duration_ns;
    totals.self_ns += duration_ns - op.children_ns;
  }
  return sums;
}

void print_number(const char* key, std::uint64_t value) {
  std::printf("  \"%s\": %llu,\n", key, static_cast<unsigned long long>(value));
}

/// `operators` are of the whole run, whatever part of it the trace still holds.
void print_truth(const std::string& path, std::uint64_t handed_in,
                 const flush::Sink::Counts& counts,
                 const std::vector<SyntheticOperator>& operators) {
  std::printf("{\n  \"trace\": \"%s\",\n", path.c_str());
  print_number("started", operators.size());
  print_number("recorded", handed_in);
  print_number("written", counts.written);
  print_number("lost_disk_full", counts.lost_disk_full);
  print_number("lost_rotated_out", counts.lost_rotated_out);
  std::printf("  \"operators\": {");
  const char* separator = "\n";
  for (const auto& [name, totals] : sum_up(operators)) {
    std::printf("%s    \"%s\": {\"calls\": %llu, \"total_ns\": %llu, \"self_ns\": %llu}", separator,
                name.c_str(), static_cast<unsigned long long>(totals.calls),
                static_cast<unsigned long long>(totals.total_ns),
                static_cast<unsigned long long>(totals.self_ns));
    separator = ",\n";
  }
  std::printf("\n  }\n}\n");
}

void say(const char* sentence) { std::fprintf(stderr, "make_trace: %s\n", sentence); }

int make_trace(const Arguments& arguments) {
  char absolute[PATH_MAX];
  if (::realpath(arguments.directory.c_str(), absolute) == nullptr) {
    std::fprintf(stderr, "make_trace: %s: no such directory\n", arguments.directory.c_str());
    return 2;
  }
  flush::CtfSinkOptions options;
  options.output_directory = absolute;
  options.trace_name = arguments.trace_name;
  options.max_bytes = arguments.max_bytes;
  options.when_full =
      arguments.when_full == "stop" ? config::WhenFull::kStop : config::WhenFull::kRotate;
  options.say = say;
  std::string error;
  const std::unique_ptr<flush::Sink> sink = flush::make_ctf_sink(options, error);
  if (!sink) {
    say(error.c_str());
    return 1;
  }
  const auto operators =
      synthetic_training(arguments.operators, arguments.seed, arguments.start_ns);
  const std::uint64_t handed_in = emit_as_process(operators, arguments.process, *sink);
  if (!arguments.process.killed) sink->close();
  print_truth(options.output_directory + "/" + options.trace_name, handed_in, sink->counts(),
              operators);
  return 0;
}

}  // namespace
}  // namespace torchtrace::fakes

int main(int argc, char** argv) {
  try {
    CLI::App app("Writes the trace of a training run that never took place");
    torchtrace::fakes::Arguments arguments;
    torchtrace::fakes::parse(app, arguments);
    CLI11_PARSE(app, argc, argv);
    return torchtrace::fakes::make_trace(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_trace: %s\n", error.what());
    return 1;
  }
}
