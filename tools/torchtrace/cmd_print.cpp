#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <string>

#include "abort_guard.h"
#include "analysis/event_printer.h"
#include "analysis/trace_error.h"
#include "analysis/trace_reader.h"
#include "commands.h"

namespace torchtrace::cli {
namespace {

/// What is missing goes to stderr: stdout holds events and nothing else.
void print_notes(const analysis::ReadSummary& summary) {
  for (const std::string& sentence : summary.missing) {
    std::fprintf(stderr, "torchtrace print: note: %s\n", sentence.c_str());
  }
  for (const analysis::TraceSummary& trace : summary.traces) {
    if (trace.discarded()) {
      std::fprintf(
          stderr,
          "torchtrace print: note: the tracer had no room for some events of the trace '%s'\n",
          trace.info.path.c_str());
    }
  }
}

void print_events(const std::string& directory) {
  std::ios_base::sync_with_stdio(false);  // Else each line is written by itself.
  const AbortGuard guard(directory);
  analysis::EventPrinter printer(std::cout);
  const analysis::ReadSummary summary = analysis::read_traces(directory, printer);
  if (!std::cout.flush()) {
    throw analysis::TraceError("cannot write the events: is the disk full?");
  }
  if (summary.torchtrace_events() == 0 && !summary.missing.empty()) {
    throw analysis::TraceError(summary.missing.front());
  }
  if (summary.torchtrace_events() == 0) {
    throw analysis::TraceError("the trace '" + directory + "' holds no event of torchtrace");
  }
  print_notes(summary);
}

int run_print(const std::string& directory) noexcept {
  try {
    print_events(directory);
    return kExitOk;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "torchtrace print: %s\n", error.what());
    return kExitFailed;
  }
}

}  // namespace

void add_print(CLI::App& app, int& exit_code) {
  auto directory = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("print", "Print the events of a trace, one line each, in time order");
  command->add_option("DIR", *directory, "Directory that holds one trace or many")->required();
  command->callback([directory, &exit_code] { exit_code = run_print(*directory); });
}

}  // namespace torchtrace::cli
