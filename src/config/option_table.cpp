#include "config/option_table.h"

#include <type_traits>

#include "config/text.h"

namespace torchtrace::config {
namespace {

constexpr std::uint64_t kKiB = 1ULL << 10U;
constexpr std::uint64_t kMiB = 1ULL << 20U;
constexpr std::uint64_t kGiB = 1ULL << 30U;
constexpr std::uint64_t kMsInNs = 1'000'000;
constexpr std::uint64_t kSecondInNs = 1'000'000'000;

// Between a Value and each type of member.

void put(std::uint64_t& member, const Value& value) { member = value.number; }
void put(bool& member, const Value& value) { member = value.number != 0; }
void put(std::string& member, const Value& value) { member = value.text; }
void put(std::vector<std::string>& member, const Value& value) { member = value.list; }
void put(std::array<bool, core::kScopeCount>& member, const Value& value) {
  for (std::size_t i = 0; i < member.size(); ++i) member[i] = ((value.number >> i) & 1U) != 0;
}
template <typename Enum, typename = std::enable_if_t<std::is_enum_v<Enum>>>
void put(Enum& member, const Value& value) {
  member = static_cast<Enum>(value.number);
}

Value get(std::uint64_t member) { return {member, {}, {}}; }
Value get(bool member) { return {member ? std::uint64_t{1} : 0, {}, {}}; }
Value get(const std::string& member) { return {0, member, {}}; }
Value get(const std::vector<std::string>& member) { return {0, {}, member}; }
Value get(const std::array<bool, core::kScopeCount>& member) {
  Value value;
  for (std::size_t i = 0; i < member.size(); ++i) value.number |= std::uint64_t{member[i]} << i;
  return value;
}
template <typename Enum, typename = std::enable_if_t<std::is_enum_v<Enum>>>
Value get(Enum member) {
  return {static_cast<std::uint64_t>(member), {}, {}};
}

template <auto section, auto member>
void store(Config& config, const Value& value) {
  put((config.*section).*member, value);
}
template <auto section, auto member>
Value fetch(const Config& config) {
  return get((config.*section).*member);
}

// Choices, in the order of their enumerators (config.h, core/record.h).

constexpr Choice kScopes[] = {
    {"function", "operators (aten::add), custom ones too, and the engine around each node"},
    {"backward_function", "nodes of the backward pass (AddBackward0), linked to the forward pass"},
    {"torchscript_function", "functions and methods of TorchScript"},
    {"kernel_function_dtype", "the data type a kernel was chosen for; selective builds only"},
    {"custom_class", "methods of TorchScript custom classes"},
    {"build_feature", "features that selective builds ask for"},
    {"lite_interpreter", "the interpreter of PyTorch mobile"},
    {"user_scope", "record_function blocks, optimizer steps, DataLoader and DDP"},
    {"static_runtime_op", "operators run by Static Runtime"},
    {"static_runtime_model", "whole models run by Static Runtime"},
};
static_assert(sizeof(kScopes) / sizeof(kScopes[0]) == core::kScopeCount);

constexpr Choice kPolicies[] = {
    {"drop_newest", "the operator is dropped; the program never waits"},
    {"overwrite_oldest", "it takes the place of the oldest one in the ring"},
    {"block", "the program waits, 100ms at most; then the operator is dropped"},
};

constexpr Choice kSinks[] = {
    {"auto", "LTTng if a session daemon runs and a session records the events within 1s, else CTF"},
    {"lttng",
     "events of the LTTng provider \"torchtrace\"; without a session that records them, none"},
    {"ctf", "CTF 1.8 files, written by the traced program itself: no daemon"},
    {"snapshot", "a flight recorder: the rings hold the last seconds, written only when asked for"},
    {"none", "nothing is written; operators are recorded and counted, for measuring the cost"},
    {"off", "tracing is off: nothing is registered with PyTorch"},
};

constexpr Choice kWhenFull[] = {
    {"rotate", "the oldest files of the trace are deleted: it holds the most recent operators"},
    {"stop", "writing ends: the trace holds the first operators"},
};

constexpr Choice kDumpSignals[] = {
    {"SIGUSR2", "dump at this signal"},
    {"SIGUSR1", "dump at this signal"},
    {"none", "no signal is handled"},
};

constexpr Choice kClocks[] = {
    {"auto", "the time-stamp counter where the kernel trusts it, else CLOCK_MONOTONIC"},
    {"tsc", "the same; says so where it is CLOCK_MONOTONIC. A counter that turns bad is given up"},
    {"monotonic", "CLOCK_MONOTONIC, by a call for each time stamp"},
};

constexpr Section kSections[] = {
    {"filters", "Which operators are recorded."},
    {"observer", "How torchtrace hears of operators: by a callback in PyTorch's list."},
    {"buffer", "The rings between the program's threads and the background thread that writes."},
    {"output", "Where the trace goes, and how much of it is kept."},
    {"snapshot", "The flight recorder, output.sink = snapshot: what it holds, and what dumps it."},
    {"clock",
     "What time stamps are read from. Traces hold CLOCK_MONOTONIC nanoseconds in any case."},
};

// What buffer.size says of a record.
static_assert(sizeof(core::Record) == 64);

constexpr Option kOptions[] = {
    {"filters.scopes", ValueType::kChoiceList, "function,backward_function,user_scope", 0, 0, false,
     kScopes,
     "Kinds of events that PyTorch is asked to report; at least one. A kind that is left out costs "
     "nothing: PyTorch itself skips it. backward_function costs about 0.2us per node of the "
     "backward "
     "pass. All ten cost 0.3us to 0.5us more per node than the default, even where none of the "
     "others ever occurs.",
     store<&Config::filters, &Config::Filters::scopes>,
     fetch<&Config::filters, &Config::Filters::scopes>},

    {"filters.include",
     ValueType::kPatternList,
     "",
     0,
     0,
     false,
     {},
     "Names of the operators that are recorded, as patterns in which * stands for any characters "
     "and ? for one: \"aten::*\", \"*Backward0\", \"aten::add.Tensor\". A name is that of the "
     "operator with its overload, or the text of a record_function block. Empty: all. What is left "
     "out is counted, still stands in the depth of what runs inside it, and costs about a third of "
     "what a recorded operator costs, however many patterns there are.",
     store<&Config::filters, &Config::Filters::include>,
     fetch<&Config::filters, &Config::Filters::include>},

    {"filters.exclude",
     ValueType::kPatternList,
     "",
     0,
     0,
     false,
     {},
     "Names of the operators that are left out, as patterns like those of filters.include, over "
     "which these win.",
     store<&Config::filters, &Config::Filters::exclude>,
     fetch<&Config::filters, &Config::Filters::exclude>},

    {"observer.reregister",
     ValueType::kBoolean,
     "true",
     0,
     0,
     false,
     {},
     "What happens when the program removes all of PyTorch's callbacks "
     "(torch._C._autograd._clear_callbacks, at::clearGlobalCallbacks), as programs do that clean "
     "up "
     "after a profiler of their own: true adds the one of torchtrace again within output.period. "
     "The program means its own callbacks, and whoever starts it under torchtrace means the whole "
     "run; operators in between are in no count. false: nothing is recorded from then on. Either "
     "is said on stderr.",
     store<&Config::observer, &Config::Observer::reregister>,
     fetch<&Config::observer, &Config::Observer::reregister>},

    {"buffer.size",
     ValueType::kSize,
     "2MiB",
     64 * kKiB,
     1 * kGiB,
     true,
     {},
     "Ring of one thread that runs operators. An operator takes 64 bytes, so 2MiB holds 32768: "
     "with "
     "output.period = 10ms, a burst of 3.2 million operators per second on one thread. Where the "
     "ring is full when an operator ends, that operator is dropped and counted in the receipt. "
     "Costs that much shared memory for each such thread, taken at its first operator.",
     store<&Config::buffer, &Config::Buffer::size_bytes>,
     fetch<&Config::buffer, &Config::Buffer::size_bytes>},

    {"buffer.total",
     ValueType::kSize,
     "256MiB",
     64 * kKiB,
     64 * kGiB,
     false,
     {},
     "All rings of one process together; not less than buffer.size. Operators of threads that come "
     "when it is used up are counted, not recorded. The memory counts against the limit of the "
     "program's container, and against the size of /dev/shm (64MB in many containers).",
     store<&Config::buffer, &Config::Buffer::total_bytes>,
     fetch<&Config::buffer, &Config::Buffer::total_bytes>},

    {"buffer.policy", ValueType::kChoice, "drop_newest", 0, 0, false, kPolicies,
     "What happens to an operator that ends while its thread's ring is full. Whatever is not in "
     "the "
     "trace for that is counted in the receipt, by reason. Where block has waited in vain, it "
     "waits "
     "no more until the background thread has emptied that ring: the program may hold a lock that "
     "the background thread needs.",
     store<&Config::buffer, &Config::Buffer::policy>,
     fetch<&Config::buffer, &Config::Buffer::policy>},

    {"buffer.spare",
     ValueType::kCount,
     "1",
     0,
     64,
     false,
     {},
     "Rings kept ready for threads to come, so that a thread's first operator need not wait for "
     "memory (about 1ms for 2MiB). Costs buffer.size of shared memory each, within buffer.total.",
     store<&Config::buffer, &Config::Buffer::spare>,
     fetch<&Config::buffer, &Config::Buffer::spare>},

    {"output.sink", ValueType::kChoice, "auto", 0, 0, false, kSinks,
     "Where operators are written. LTTng loads its library into the program (about 5ms, and two "
     "threads), CTF adds nothing.",
     store<&Config::output, &Config::Output::sink>, fetch<&Config::output, &Config::Output::sink>},

    {"output.directory",
     ValueType::kPath,
     "",
     0,
     0,
     false,
     {},
     "Folder of the CTF files: absolute, or relative to the working directory; created if missing. "
     "Each process writes one trace below it, HOST-PID-STARTTIME; forked children use their "
     "parent's folder. Empty: torchtrace-PID in the working directory. A leading ~ is not "
     "expanded.",
     store<&Config::output, &Config::Output::directory>,
     fetch<&Config::output, &Config::Output::directory>},

    {"output.max_bytes",
     ValueType::kSize,
     "2GiB",
     1 * kMiB,
     16384 * kGiB,
     false,
     {},
     "Most disk space that the whole of output.directory may take; output.when_full says what "
     "happens then. An operator takes about 90 bytes. For CTF files only: LTTng has its own limits "
     "(lttng enable-channel --tracefile-size).",
     store<&Config::output, &Config::Output::max_bytes>,
     fetch<&Config::output, &Config::Output::max_bytes>},

    {"output.when_full", ValueType::kChoice, "rotate", 0, 0, false, kWhenFull,
     "What happens at output.max_bytes. Either way the receipt counts what is missing.",
     store<&Config::output, &Config::Output::when_full>,
     fetch<&Config::output, &Config::Output::when_full>},

    {"output.hold",
     ValueType::kDuration,
     "50ms",
     1 * kMsInNs,
     10 * kSecondInNs,
     false,
     {},
     "How long events are held back to be written in order of their start. An operator that is "
     "open "
     "for longer becomes a pair of events, op_begin and op_end. Longer: fewer pairs and late "
     "events "
     "on a machine whose threads wait for a processor, but more memory (the rate of operators "
     "times "
     "this) and more that is not yet written when the program is killed.",
     store<&Config::output, &Config::Output::hold_ns>,
     fetch<&Config::output, &Config::Output::hold_ns>},

    {"output.period",
     ValueType::kDuration,
     "10ms",
     1 * kMsInNs,
     1 * kSecondInNs,
     false,
     {},
     "How often the background thread empties the rings. Longer: fewer wake-ups, but buffer.size "
     "must hold what a thread runs in that time. Between two times the thread sleeps.",
     store<&Config::output, &Config::Output::period_ns>,
     fetch<&Config::output, &Config::Output::period_ns>},

    {"snapshot.seconds",
     ValueType::kDuration,
     "5s",
     1 * kSecondInNs,
     300 * kSecondInNs,
     false,
     {},
     "How much of the past each thread's ring holds at 50000 operators per second: buffer.size "
     "becomes "
     "the next power of two (5s: 16MiB) unless it is set. At other rates it holds more or less. "
     "Of a thread that has ended, that much is kept.",
     store<&Config::snapshot, &Config::Snapshot::seconds_ns>,
     fetch<&Config::snapshot, &Config::Snapshot::seconds_ns>},

    {"snapshot.slow_step",
     ValueType::kDuration,
     "0s",
     0,
     3600 * kSecondInNs,
     false,
     {},
     "Dump when a training step takes longer: the time between two ends of one kind of optimizer's "
     "step, or of ProfilerStep, on one thread. Of several kinds of optimizers each is timed by "
     "itself. 0s: never. The first step is often slow by nature; dumps come at most once per "
     "second.",
     store<&Config::snapshot, &Config::Snapshot::slow_step_ns>,
     fetch<&Config::snapshot, &Config::Snapshot::slow_step_ns>},

    {"snapshot.signal", ValueType::kChoice, "SIGUSR2", 0, 0, false, kDumpSignals,
     "A signal to the process that has it dump: kill -USR2 PID. Handled only if the program had "
     "left it at its default as PyTorch was loaded; a handler that it installs later takes our "
     "place.",
     store<&Config::snapshot, &Config::Snapshot::signal>,
     fetch<&Config::snapshot, &Config::Snapshot::signal>},

    {"clock.source", ValueType::kChoice, "auto", 0, 0, false, kClocks,
     "An operator needs two time stamps. The counter is read in about 10ns, clock_gettime in about "
     "25ns, or 250ns where it has to enter the kernel.",
     store<&Config::clock, &Config::Clock::source>, fetch<&Config::clock, &Config::Clock::source>},
};

}  // namespace

Span<Section> sections() { return kSections; }

Span<Option> options() { return kOptions; }

const Option* find_option(std::string_view name) {
  for (const Option& option : kOptions) {
    if (name == option.name) return &option;
  }
  return nullptr;
}

bool is_section(std::string_view name) {
  for (const Section& section : kSections) {
    if (name == section.name) return true;
  }
  return false;
}

std::string_view section_of(std::string_view name) { return name.substr(0, name.find('.')); }

std::string_view key_of(std::string_view name) {
  const std::size_t dot = name.find('.');
  return dot == std::string_view::npos ? std::string_view{} : name.substr(dot + 1);
}

std::string environment_name(const Option& option) {
  return "TORCHTRACE_" + upper(section_of(option.name)) + '_' + upper(key_of(option.name));
}

}  // namespace torchtrace::config
