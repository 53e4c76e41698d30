#include <CLI/CLI.hpp>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands.h"
#include "config/load.h"
#include "config/option_table.h"
#include "config/reference.h"
#include "config/value.h"
#include "config_words.h"

namespace torchtrace::cli {
namespace {

int fail(const std::string& sentence) {
  std::fprintf(stderr, "torchtrace config: %s\n", sentence.c_str());
  return kExitFailed;
}

/// Writes everything or says why not: a full disk must not look like success.
int print(const std::string& text) {
  const bool is_written = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  return is_written ? kExitOk : fail(std::string{"cannot write to stdout: "} + strerror(errno));
}

struct InitArguments {
  std::string file;
  bool force = false;
  bool markdown = false;
};

int write_file(const InitArguments& arguments, const std::string& text) {
  // "x": fails if the file is there, also if it came to be just now.
  std::FILE* file = std::fopen(arguments.file.c_str(), arguments.force ? "we" : "wxe");
  if (file == nullptr && errno == EEXIST) {
    return fail(arguments.file + " exists already; --force overwrites it");
  }
  if (file == nullptr) return fail("cannot write " + arguments.file + ": " + strerror(errno));
  const bool is_put = std::fputs(text.c_str(), file) >= 0;
  // fclose writes what is buffered: it too can find the disk full.
  const bool is_closed = std::fclose(file) == 0;
  if (is_put && is_closed) return kExitOk;
  return fail("cannot write " + arguments.file + ": " + strerror(errno));
}

int init(const InitArguments& arguments) {
  const std::string text =
      arguments.markdown ? config::reference_markdown() : config::sample_toml();
  return arguments.file.empty() ? print(text) : write_file(arguments, text);
}

config::LoadResult load(const std::string& file) {
  if (!file.empty()) return config::load_file(file);
  return config::load([](const char* name) -> const char* { return std::getenv(name); }, environ);
}

/// What was read, as a heading.
std::string name_of_source(const std::string& file) {
  if (!file.empty()) return file;
  const char* variable = std::getenv("TORCHTRACE_CONFIG");
  if (variable != nullptr && *variable != '\0') {
    return std::string{variable} + " (TORCHTRACE_CONFIG) and the environment";
  }
  return "defaults and the environment (TORCHTRACE_CONFIG is not set)";
}

/// Says what is wrong, and whether there is a configuration to go on with.
bool report_problems(const config::LoadResult& result) {
  for (const config::Problem& note : result.notes) {
    std::fprintf(stderr, "note: %s\n", note.text.c_str());
  }
  for (const config::Problem& problem : result.problems) {
    std::fprintf(stderr, "error: %s\n", problem.text.c_str());
  }
  if (!result.config && result.problems.empty()) std::fputs("error: out of memory\n", stderr);
  return result.config.has_value();
}

int check(const std::string& file) {
  const config::LoadResult result = load(file);
  if (!report_problems(result)) return kExitUsage;
  return print("Valid: " + name_of_source(file) + ".\n\n" + config_in_words(*result.config));
}

struct Row {
  std::string setting;
  std::string origin;
};

std::vector<Row> effective_values(const config::LoadResult& result) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < config::options().size(); ++i) {
    const config::Option& option = config::options()[i];
    const std::string value = config::toml_text(option, option.fetch(*result.config));
    rows.push_back({std::string{option.name} + " = " + value, result.origins[i]});
  }
  return rows;
}

/// Valid TOML (dotted keys, and each origin in a comment): what is shown can be used as a file.
std::string table_of(const std::vector<Row>& rows) {
  std::size_t width = 0;
  for (const Row& row : rows) width = std::max(width, row.setting.size());
  std::string out;
  for (const Row& row : rows) {
    out += row.setting + std::string(width - row.setting.size(), ' ') + "  # " + row.origin + '\n';
  }
  return out;
}

int show(const std::string& file) {
  const config::LoadResult result = load(file);
  if (!report_problems(result)) return kExitUsage;
  return print(table_of(effective_values(result)) + "# digest " + result.config->digest + '\n');
}

void add_init(CLI::App& config, int& exit_code) {
  CLI::App* command = config.add_subcommand(
      "init", "Write a sample file: every option, explained, commented out with its default");
  auto arguments = std::make_shared<InitArguments>();
  command->add_option("FILE", arguments->file, "Where to write it; stdout if left out");
  command->add_flag("--force", arguments->force, "Overwrite FILE");
  command->add_flag("--markdown", arguments->markdown, "Write the page of documentation instead");
  command->callback([arguments, &exit_code] { exit_code = init(*arguments); });
}

/// Adds a subcommand that reads a configuration.
void add_reader(CLI::App& config, const std::string& name, const std::string& help,
                int (*run)(const std::string&), int& exit_code) {
  CLI::App* command = config.add_subcommand(name, help);
  auto file = std::make_shared<std::string>();
  command->add_option("FILE", *file,
                      "Configuration file; if left out, what TORCHTRACE_CONFIG and the other "
                      "TORCHTRACE_* variables give");
  command->callback([file, run, &exit_code] { exit_code = run(*file); });
}

}  // namespace

void add_config(CLI::App& app, int& exit_code) {
  CLI::App* config = app.add_subcommand("config", "Write, check or show a configuration");
  config->require_subcommand(1);
  add_init(*config, exit_code);
  add_reader(*config, "check", "List everything wrong, or say what will be recorded and where",
             check, exit_code);
  add_reader(*config, "show", "List the effective values and where each comes from", show,
             exit_code);
}

}  // namespace torchtrace::cli
