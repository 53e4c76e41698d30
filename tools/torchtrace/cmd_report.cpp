#include "cmd_report.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>

#include "abort_guard.h"
#include "analysis/report_json.h"
#include "analysis/report_text.h"
#include "analysis/trace_model.h"
#include "commands.h"
#include "terminal.h"

namespace torchtrace::cli {
namespace {

struct ReportArguments {
  std::string directory;
  bool json = false;
  std::string sort = "self";
  std::size_t top = analysis::TextReportOptions{}.top;
};

void write_report(const ReportArguments& arguments, std::ostream& out) {
  const AbortGuard guard(arguments.directory);
  analysis::TraceModel model = analysis::load_model(arguments.directory);
  const analysis::SortKey sort =
      analysis::parse_sort_key(arguments.sort).value_or(analysis::SortKey::kSelf);
  if (arguments.json) {
    analysis::write_json_report(model, sort, out);
  } else {
    analysis::write_text_report(model, {arguments.top, sort, style_for(out)}, out);
  }
}

int run_report(const ReportArguments& arguments, std::ostream& out) noexcept {
  try {
    write_report(arguments, out);
    if (out.flush()) return kExitOk;
    std::fputs("torchtrace report: cannot write the report: is the disk full?\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "torchtrace report: %s\n", error.what());
  }
  return kExitFailed;
}

}  // namespace

int print_report(const std::string& directory, std::ostream& out) noexcept {
  try {
    ReportArguments arguments;
    arguments.directory = directory;
    return run_report(arguments, out);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "torchtrace report: %s\n", error.what());
    return kExitFailed;
  }
}

void add_report(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App* command =
      app.add_subcommand("report", "Show operators, threads and the receipt of a trace");
  command->add_option("DIR", arguments->directory, "Directory that holds one trace or many")
      ->required();
  command->add_flag("--json", arguments->json,
                    "Machine-readable: schema torchtrace.report/1, all operators");
  command
      ->add_option("--sort", arguments->sort,
                   "Sort operators by self (default), total, calls, mean, min, p50, p99, max, name")
      ->check(CLI::IsMember(analysis::sort_key_names()))
      ->type_name("KEY");
  command->add_option("--top", arguments->top, "Show the first N operators (30); 0: all")
      ->type_name("N");
  command->callback([arguments, &exit_code] { exit_code = run_report(*arguments, std::cout); });
}

}  // namespace torchtrace::cli
