// A traced program without PyTorch: loads the LTTng provider as the agent does and hands known
// events to the sink, on command.
//
//   lttng_host PROVIDER_LIBRARY
//
// Reads one command per line and answers each with one line of JSON:
//   wait SECONDS     until a session records, or the time is over  {"records": bool}
//   sink             makes the sink anew                           {"wants_state": bool}
//   emit             one event of each kind, known values          {"events": [{"event",
//   fields...}]} ops COUNT        that many operators, op_id counting from 1    {"counts": {...}}
//   catch COUNT      the same with a new sink, at once when a session records
//   period           ends a flush period                           {"wants_state": bool}
//   counts           what the sink has counted                     {"counts": {...}}
//   fork COUNT HOOKS a child that emits COUNT operators; HOOKS=1 calls the provider's fork
//   functions
//                                                                  {"child": pid, "status": n}
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

#include "flush/lttng_sink.h"

namespace {

using torchtrace::flush::Sink;

/// Values that differ from field to field and reach the ends of each type's range.
struct KnownValues {
  unsigned field = 0;
  std::string texts[32];

  std::uint8_t u8() { return static_cast<std::uint8_t>(0xFFU - field++); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(0xFFFFU - field++); }
  std::uint32_t u32() { return 0xFFFFFFFFU - field++; }
  std::uint64_t u64() { return ~std::uint64_t{0} - field++; }
  std::int64_t i64() {
    return std::numeric_limits<std::int64_t>::min() + static_cast<std::int64_t>(field++);
  }
  const char* str() {
    std::string& text = texts[field];
    text = "field " + std::to_string(field++) + " {\"quoted\", aten::\xC3\xA9}";
    return text.c_str();
  }
};

void print_json(std::ostream& out, const char* text) {
  out << '"';
  for (const char* c = text; *c != '\0'; ++c) {
    if (*c == '"' || *c == '\\') out << '\\';
    out << *c;
  }
  out << '"';
}
void print_json(std::ostream& out, std::uint64_t value) { out << value; }
void print_json(std::ostream& out, std::int64_t value) { out << value; }
void print_json(std::ostream& out, std::uint32_t value) { out << value; }
void print_json(std::ostream& out, std::uint16_t value) { out << value; }
void print_json(std::ostream& out, std::uint8_t value) { out << unsigned{value}; }

#define FILL(kind, name) event.name = values.kind();
#define PRINT(kind, name)           \
  std::cout << ", \"" #name "\": "; \
  print_json(std::cout, event.name);
#define DEFINE_EMIT(NAME, name)                       \
  void emit_##name(Sink& sink) {                      \
    KnownValues values;                               \
    torchtrace_##name event{};                        \
    TORCHTRACE_FIELDS_##NAME(FILL) sink.name(event);  \
    std::cout << "{\"event\": \"" #name "\"";         \
    TORCHTRACE_FIELDS_##NAME(PRINT) std::cout << '}'; \
  }
TORCHTRACE_EVENTS(DEFINE_EMIT)

void emit_all(Sink& sink) {
  const char* separator = "{\"events\": [";
#define CALL_EMIT(NAME, name) \
  std::cout << separator;     \
  separator = ", ";           \
  emit_##name(sink);
  TORCHTRACE_EVENTS(CALL_EMIT)
  std::cout << "]}\n";
}

void emit_operators(Sink& sink, std::uint64_t count) {
  torchtrace_op event{};
  event.pid = static_cast<std::uint32_t>(getpid());
  event.name = "aten::add.Tensor";
  for (std::uint64_t i = 1; i <= count; ++i) {
    event.ts = i;
    event.op_id = i;
    sink.op(event);
  }
}

bool wait_for_session(const torchtrace_lttng_provider& provider, double seconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!torchtrace::flush::lttng_session_records(provider)) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// Without a pause: what is emitted here meets LTTng while it is still starting the session.
std::unique_ptr<Sink> catch_session(const torchtrace_lttng_provider& provider,
                                    std::uint64_t count) {
  while (!torchtrace::flush::lttng_session_records(provider)) {
  }
  auto sink = torchtrace::flush::make_lttng_sink(provider);
  emit_operators(*sink, count);
  return sink;
}

void print_counts(const Sink& sink) {
  const Sink::Counts counts = sink.counts();
  std::cout << "{\"counts\": {\"written\": " << counts.written
            << ", \"lost_elsewhere\": " << counts.lost_elsewhere
            << ", \"lost_disk_full\": " << counts.lost_disk_full
            << ", \"lost_rotated_out\": " << counts.lost_rotated_out << "}}\n";
}

[[noreturn]] void run_child(const torchtrace_lttng_provider& provider, std::uint64_t count) {
  if (!wait_for_session(provider, 10)) _exit(1);
  const auto sink = torchtrace::flush::make_lttng_sink(provider);
  emit_operators(*sink, count);
  _exit(sink->counts().written == count ? 0 : 2);
}

void fork_child(const torchtrace_lttng_provider& provider, std::uint64_t count, bool hooks) {
  sigset_t saved;
  if (hooks) provider.before_fork(&saved);
  const pid_t child = fork();
  if (child == 0) {
    if (hooks) provider.after_fork_child(&saved);
    run_child(provider, count);
  }
  if (hooks) provider.after_fork_parent(&saved);
  int status = 0;
  waitpid(child, &status, 0);
  std::cout << "{\"child\": " << child << ", \"status\": " << status << "}\n";
}

class Host {
 public:
  explicit Host(const torchtrace_lttng_provider& provider) : provider_(provider) { make_sink(); }

  /// False: no such command.
  bool execute(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    double number = 0;
    int hooks = 0;
    words >> command >> number >> hooks;
    const auto count = static_cast<std::uint64_t>(number);
    if (command == "wait") return answer("records", wait_for_session(provider_, number));
    if (command == "sink") return make_sink(), answer("wants_state", sink_->wants_state());
    if (command == "emit") return emit_all(*sink_), true;
    if (command == "ops") return emit_operators(*sink_, count), print_counts(*sink_), true;
    if (command == "catch") {
      sink_ = catch_session(provider_, count);
      return print_counts(*sink_), true;
    }
    if (command == "period")
      return sink_->end_of_period(0), answer("wants_state", sink_->wants_state());
    if (command == "counts") return print_counts(*sink_), true;
    if (command == "fork") return fork_child(provider_, count, hooks != 0), true;
    return false;
  }

 private:
  void make_sink() { sink_ = torchtrace::flush::make_lttng_sink(provider_); }

  static bool answer(const char* key, bool value) {
    std::cout << "{\"" << key << "\": " << (value ? "true" : "false") << "}\n";
    return true;
  }

  const torchtrace_lttng_provider& provider_;
  std::unique_ptr<Sink> sink_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: lttng_host PROVIDER_LIBRARY\n";
    return 2;
  }
  setenv("LTTNG_UST_REGISTER_TIMEOUT", "0", 0);
  std::string error;
  const auto* provider = torchtrace::flush::load_lttng_provider(argv[1], error);
  if (provider == nullptr) {
    std::cerr << error << '\n';
    return 1;
  }
  Host host(*provider);
  for (std::string line; std::getline(std::cin, line); std::cout.flush()) {
    if (!host.execute(line)) {
      std::cerr << "lttng_host: unknown command: " << line << '\n';
      return 2;
    }
  }
  return 0;
}
