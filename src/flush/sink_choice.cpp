#include "flush/sink_choice.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <new>

#include "core/clock.h"
#include "core/log.h"
#include "core/mapping.h"
#include "flush/ctf_sink.h"
#include "flush/lttng_sink.h"
#include "flush/null_sink.h"
#include "flush/output_directory.h"
#include "flush/run_announcement.h"
#include "flush/session_daemon.h"

namespace torchtrace::flush {

namespace {

/// lttng-ust maps a page of a file in /dev/shm when it is loaded, and touches it whether or not
/// there is room for it. Where there is no /dev/shm it goes without.
bool shared_memory_has_room() noexcept {
  constexpr std::uint64_t kEnoughBytes = 64U << 10U;
  struct statvfs info {};
  if (statvfs(core::kSharedMemoryRoot, &info) != 0) return true;
  return std::uint64_t{info.f_bavail} * info.f_frsize >= kEnoughBytes;
}

/// exec keeps pid and start time: the trace of that name is then of the program before it.
std::string free_trace_name(const std::string& directory, const std::string& name) {
  constexpr int kMaxImages = 99;
  std::string path = directory + "/" + name;
  const std::size_t length = path.size();
  for (int image = 2; image <= kMaxImages && access(path.c_str(), F_OK) == 0; ++image) {
    path.resize(length);
    path.append("-").append(std::to_string(image));
  }
  return path.substr(directory.size() + 1);
}

}  // namespace

void SinkChoice::load_provider() {
  if (options_.kind != config::SinkKind::kAuto && options_.kind != config::SinkKind::kLttng) return;
  is_in_run_ = announce_to_run(options_.run_socket);
  std::string error;
  if (!shared_memory_has_room()) {
    error = "/dev/shm is full, and lttng-ust would crash the program there";
    if (options_.kind == config::SinkKind::kLttng) {
      core::say(("operators are only counted: " + error).c_str());
    }
    return;
  }
  provider_.store(load_lttng_provider(options_.provider_path, error), std::memory_order_release);
  loaded_ns_ = core::clock_ns(CLOCK_MONOTONIC);
  daemon_answers_ =
      provider() != nullptr && (is_in_run_ || session_daemon_answers(options_.lttng_home));
  if (provider() == nullptr && options_.kind == config::SinkKind::kLttng) {
    core::say(("operators are only counted: " + error).c_str());
  }
}

bool SinkChoice::want_lttng() const noexcept {
  return provider() != nullptr && lttng_session_records(*provider());
}

bool SinkChoice::may_wait(std::uint64_t limit_ns) const noexcept {
  const std::uint64_t waited_ns = core::clock_ns(CLOCK_MONOTONIC) - loaded_ns_;
  return daemon_answers_ && waited_ns < (is_in_run_ ? kDecideInRun_ns : limit_ns);
}

bool SinkChoice::is_worth_waiting() const noexcept {
  if (sink_ != nullptr || want_lttng()) return false;
  return may_wait(options_.kind == config::SinkKind::kLttng ? kDecideWithin_ns : kPatienceAtEnd_ns);
}

bool SinkChoice::update(std::size_t held, bool must_decide) {
  const bool prefers_lttng =
      options_.kind == config::SinkKind::kAuto || options_.kind == config::SinkKind::kLttng;
  if (prefers_lttng && !is_lttng_ && want_lttng()) {
    leave_sink();
    use(make_lttng_sink(*provider()));
    is_lttng_ = true;
    return true;
  }
  if (sink_ != nullptr) return false;
  // A session that is about to begin should miss nothing.
  if (prefers_lttng && !must_decide && held < kMaxHeldRecords && may_wait(kDecideWithin_ns)) {
    return false;
  }
  switch (options_.kind) {
    case config::SinkKind::kAuto:
    case config::SinkKind::kCtf:
      use_ctf();
      break;
    case config::SinkKind::kLttng:
      is_lttng_ = provider() != nullptr;
      use(is_lttng_ ? make_lttng_sink(*provider()) : nullptr);
      break;
    default:
      use(nullptr);
      break;
  }
  return true;
}

void SinkChoice::leave_sink() {
  trace_directory_.clear();
  trace_name_.clear();
  if (sink_ == nullptr) return;
  sink_->close();  // first: it may still find the disk full
  const Sink::Counts counts = sink_->counts();
  earlier_.lost_elsewhere += counts.written + counts.lost_elsewhere;
  earlier_.lost_disk_full += counts.lost_disk_full;
  earlier_.lost_rotated_out += counts.lost_rotated_out;
  sink_.reset();
}

/// After `leave_sink`.
void SinkChoice::use(std::unique_ptr<Sink> sink) {
  counts_only_ = sink == nullptr;
  sink_ = std::move(sink);
  if (sink_ == nullptr) sink_.reset(new (std::nothrow) NullSink);
}

/// Lets `trace_directory` and `trace_name` be those of the sink that it makes.
std::unique_ptr<Sink> SinkChoice::make_ctf(const std::string& name, std::string& error) {
  std::string directory;
  if (!make_output_directory(options_.directory, directory, error)) return nullptr;
  if (!error.empty()) core::say(error.c_str());
  CtfSinkOptions ctf;
  ctf.output_directory = directory;
  ctf.trace_name = free_trace_name(directory, name);
  ctf.max_bytes = options_.max_bytes;
  ctf.when_full = options_.when_full;
  ctf.say = core::say;
  std::unique_ptr<Sink> sink = make_ctf_sink(ctf, error);
  if (sink == nullptr) return nullptr;
  trace_directory_ = directory;
  trace_name_ = ctf.trace_name;
  return sink;
}

void SinkChoice::use_ctf() {
  leave_sink();
  std::string error;
  std::unique_ptr<Sink> sink = make_ctf(options_.trace_name, error);
  if (sink == nullptr) {
    core::say(("no trace is written, operators are only counted: " + error).c_str());
  }
  use(std::move(sink));
}

bool SinkChoice::begin_dump() {
  std::string error;
  sink_ = make_ctf(options_.trace_name + "-dump-" + std::to_string(++dumps_), error);
  if (sink_ == nullptr) core::say(("nothing is dumped: " + error).c_str());
  return sink_ != nullptr;
}

void SinkChoice::end_dump() {
  sink_->close();
  sink_.reset();
}

Sink::Counts SinkChoice::counts() const noexcept {
  Sink::Counts counts = earlier_;
  if (sink_ == nullptr) return counts;
  const Sink::Counts now = sink_->counts();
  counts.written = now.written;
  counts.lost_disk_full += now.lost_disk_full;
  counts.lost_rotated_out += now.lost_rotated_out;
  counts.lost_elsewhere += now.lost_elsewhere;
  return counts;
}

}  // namespace torchtrace::flush
