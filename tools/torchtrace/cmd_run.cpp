#include <CLI/CLI.hpp>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent_files.h"
#include "child_process.h"
#include "cmd_report.h"
#include "commands.h"
#include "config/load.h"
#include "environment_block.h"
#include "lttng_session.h"
#include "output_directory.h"
#include "program_words.h"
#include "recover/after_run.h"
#include "run_socket.h"
#include "signal_guard.h"

namespace torchtrace::cli {
namespace {

using config::SinkKind;

struct RunArguments {
  std::string config_file;
  std::string sink;
  std::string directory;
  bool is_without_report = false;
  std::vector<std::string> words;
};

/// Everything we say goes to stderr: stdout is the program's.
void say(const std::string& sentence) {
  std::fprintf(stderr, "torchtrace: %s\n", sentence.c_str());
}

/// The options of the command line as variables: the agent reads them, and they beat what the
/// environment and the file say.
EnvironmentBlock environment_with(const RunArguments& arguments) {
  EnvironmentBlock environment(environ);
  if (!arguments.config_file.empty()) {
    // Absolute: the program may go elsewhere before the agent reads it.
    environment.set("TORCHTRACE_CONFIG", std::filesystem::absolute(arguments.config_file));
  }
  if (!arguments.sink.empty()) environment.set("TORCHTRACE_OUTPUT_SINK", arguments.sink);
  return environment;
}

/// No value: all problems have been said.
std::optional<config::Config> load_configuration(const EnvironmentBlock& environment) {
  const std::vector<char*> block = environment.pointers();
  const config::LoadResult result =
      config::load([&](const char* name) { return environment.get(name); }, block.data());
  for (const config::Problem& problem : result.problems) say(problem.text);
  return result.config;
}

bool records(const config::Config& config) {
  return config.output.sink != SinkKind::kNone && config.output.sink != SinkKind::kOff;
}

OutputDirectory make_directory(const RunArguments& arguments, const config::Config& config) {
  if (!arguments.directory.empty()) return make_named_directory(arguments.directory);
  if (!config.output.directory.empty()) return make_configured_directory(config.output.directory);
  return make_default_directory();
}

/// What surrounds the program while it runs.
class Recording {
 public:
  Recording(const AgentFiles& agent, const EnvironmentBlock& environment)
      : agent_(agent), environment_(environment) {}

  /// Starts what the sink needs and makes the program's environment.
  /// False: the program must not be started, and why has been said or is an interrupt.
  bool prepare(SinkKind sink, const std::string& directory) {
    if (sink == SinkKind::kAuto || sink == SinkKind::kLttng) {
      if (!choose_sink(sink, directory)) return false;
    }
    if (!directory.empty()) environment_.set("TORCHTRACE_OUTPUT_DIRECTORY", directory);
    preload_agent(agent_, environment_);
    // Before there is a program to pass it on to, an interrupt is for us: it takes effect when the
    // guard's destructor lets it through.
    return !signals_.is_asked_to_end();
  }

  ProgramEnd run(const std::vector<std::string>& words) {
    Listener listener;
    if (socket_) {
      listener = {socket_->fd(), [this] { say_if(session_->add(socket_->take())); }};
    }
    const ProgramEnd end = run_program(words, environment_, signals_, listener);
    signals_.discard_pending();  // an interrupt that has ended the program has had its effect
    return end;
  }

  /// Ends the recording; bounded.
  void finish() {
    if (!session_) return;
    say_if(session_->finish());
    session_.reset();
    socket_.reset();
    daemon_->stop();
  }

 private:
  static void say_if(const std::string& sentence) {
    if (!sentence.empty()) say(sentence);
  }

  bool choose_sink(SinkKind wanted, const std::string& directory) {
    std::string reason;
    const bool is_lttng = start_session(directory, reason);
    if (!is_lttng && wanted == SinkKind::kLttng) {
      say("cannot record with LTTng: " + reason + "; --sink ctf records without it");
      return false;
    }
    if (!is_lttng) say("recording without LTTng: " + reason);
    environment_.set("TORCHTRACE_OUTPUT_SINK", is_lttng ? "lttng" : "ctf");
    return true;
  }

  bool start_session(const std::string& directory, std::string& reason) {
    if (agent_.lttng_provider.empty()) {
      reason = "this torchtrace was built without lttng-ust";
      return false;
    }
    daemon_ = open_lttng_daemon(environment_, signals_, reason);
    if (daemon_ && begin_session(directory, reason)) return true;
    session_.reset();
    socket_.reset();
    daemon_.reset();
    return false;
  }

  bool begin_session(const std::string& directory, std::string& reason) {
    socket_ = RunSocket::create(daemon_->home(), reason);
    if (!socket_) return false;
    session_ = LttngSession::start(*daemon_, directory, reason);
    if (!session_) return false;
    daemon_->session_has_begun();
    daemon_->add_to(environment_);
    environment_.set("TORCHTRACE_RUN_SOCKET", socket_->path());
    return true;
  }

  const AgentFiles& agent_;
  EnvironmentBlock environment_;
  // Destroyed from the last to the first.
  SignalGuard signals_;
  std::unique_ptr<LttngDaemon> daemon_;
  std::unique_ptr<RunSocket> socket_;
  std::unique_ptr<LttngSession> session_;
};

const char* why_no_trace(SinkKind sink) {
  if (sink == SinkKind::kSnapshot) {
    return "no trace: nothing asked the flight recorder for a dump (snapshot.signal, "
           "snapshot.slow_step), or no PyTorch operator ran";
  }
  return "no trace: no PyTorch operator ran in this program, or it ended before one could be "
         "written";
}

/// Says where the trace lies and what is in it, or why there is none.
void show_result(const std::string& directory, SinkKind sink, bool is_without_report) {
  if (!holds_trace(directory)) return say(why_no_trace(sink));
  say("trace in " + directory);
  if (!is_without_report) print_report(directory, std::cerr);
}

int run_with(const RunArguments& arguments, const config::Config& config, const AgentFiles& agent,
             const OutputDirectory& place) {
  const std::string& directory = place.path;
  ProgramEnd end;
  {
    Recording recording(agent, environment_with(arguments));
    if (!recording.prepare(config.output.sink, directory)) {
      if (!place.was_there) remove_if_empty(directory);
      return kExitFailed;
    }
    end = recording.run(arguments.words);
    if (end.start_error != 0) say(arguments.words[0] + ": " + strerror(end.start_error));
    recording.finish();
  }
  if (directory.empty()) {
    say("nothing was recorded, as output.sink says");
  } else {
    for (const std::string& sentence : recover_after_run(directory)) say(sentence);
    if (end.start_error == 0) {
      show_result(directory, config.output.sink, arguments.is_without_report);
    }
    if (!place.was_there) remove_if_empty(directory);
  }
  return exit_as(end);
}

int run(const RunArguments& arguments) {
  const std::optional<config::Config> config = load_configuration(environment_with(arguments));
  if (!config) return kExitUsage;
  std::string error;
  const AgentFiles agent = find_agent(error);
  if (agent.agent.empty()) {
    say(error);
    return kExitFailed;
  }
  if (!records(*config)) return run_with(arguments, *config, agent, {});
  const OutputDirectory directory = make_directory(arguments, *config);
  if (!directory.error.empty()) say(directory.error);
  if (directory.path.empty()) return kExitFailed;
  return run_with(arguments, *config, agent, directory);
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command =
      app.add_subcommand("run", "Run a program, record its PyTorch operators and print the report");
  command->add_option("-c,--config", arguments->config_file,
                      "Configuration file; beats TORCHTRACE_CONFIG");
  command
      ->add_option("--sink", arguments->sink,
                   "Who writes the trace: lttng, an LTTng session of this run's own; ctf, the "
                   "program itself, without any daemon; snapshot, a flight recorder, when it is "
                   "asked to; none, nobody; auto (the default), lttng where it is installed and "
                   "works, else ctf")
      ->check(CLI::IsMember({"auto", "lttng", "ctf", "snapshot", "none"}));
  command->add_option(
      "-o,--output", arguments->directory,
      "New folder for the trace (default: torchtrace-PID in the working directory)");
  command->add_flag("--no-analysis", arguments->is_without_report,
                    "Only say where the trace lies; print no report");
  command->add_option("CMD", arguments->words, "The program and its arguments")->required();
  command->positionals_at_end();
  command->footer(
      "The program keeps its stdin, stdout and stderr, and gets the signals that are sent to this\n"
      "command. The exit code is the program's; where a signal killed it, this command dies of "
      "the\n"
      "same one. 127: not found, 126: cannot be executed, 2: the configuration is wrong, 1: the\n"
      "recording could not be started.");
  command->callback([arguments, &exit_code] {
    for (std::string& word : arguments->words) word = unprotected(word);
    arguments->config_file = unprotected(arguments->config_file);
    arguments->directory = unprotected(arguments->directory);
    exit_code = run(*arguments);
  });
}

}  // namespace torchtrace::cli
