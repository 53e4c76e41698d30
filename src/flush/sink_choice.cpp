#include "flush/sink_choice.h"

#include <dirent.h>

#include <cstring>
#include <new>

#include "core/log.h"
#include "flush/ctf_sink.h"
#include "flush/lttng_sink.h"
#include "flush/null_sink.h"
#include "flush/output_directory.h"

namespace torchtrace::flush {

namespace {

/// True if `folder` holds a socket for applications, whatever its ABI number.
bool has_application_socket(const std::string& folder) noexcept {
  DIR* entries = opendir(folder.c_str());
  if (entries == nullptr) return false;
  constexpr char kPrefix[] = "lttng-ust-sock-";
  bool found = false;
  while (const dirent* entry = readdir(entries)) {
    if (std::strncmp(entry->d_name, kPrefix, sizeof(kPrefix) - 1) == 0) found = true;
  }
  closedir(entries);
  return found;
}

}  // namespace

/// Where lttng-ust looks for session daemons: the system's, and the user's own.
/// Source: lttng-ust(3), ENVIRONMENT VARIABLES and FILES.
bool SinkChoice::daemon_may_be_there() const noexcept {
  return has_application_socket("/var/run/lttng") ||
         (!options_.lttng_home.empty() && has_application_socket(options_.lttng_home + "/.lttng"));
}

void SinkChoice::load_provider() noexcept {
  if (options_.kind != config::SinkKind::kAuto && options_.kind != config::SinkKind::kLttng) return;
  std::string error;
  provider_.store(load_lttng_provider(options_.provider_path, error), std::memory_order_release);
  if (provider() == nullptr && options_.kind == config::SinkKind::kLttng) {
    core::say(("operators are only counted: " + error).c_str());
  }
}

bool SinkChoice::want_lttng() const noexcept {
  return provider() != nullptr && lttng_session_records(*provider());
}

bool SinkChoice::update(std::uint64_t waited_ns, std::size_t held, bool must_decide) noexcept {
  const bool is_open = options_.kind == config::SinkKind::kAuto && !is_lttng_;
  if (is_open && want_lttng()) {
    use(make_lttng_sink(*provider()));
    is_lttng_ = true;
    return true;
  }
  if (sink_ != nullptr) return false;
  switch (options_.kind) {
    case config::SinkKind::kAuto:
      if (provider() != nullptr && daemon_may_be_there() && !must_decide &&
          waited_ns < kDecideWithin_ns && held < kMaxHeldRecords) {
        return false;
      }
      use_ctf();
      break;
    case config::SinkKind::kCtf:
      use_ctf();
      break;
    case config::SinkKind::kLttng:
      // A session that is about to begin should miss nothing.
      if (provider() != nullptr && !want_lttng() && !must_decide && waited_ns < kDecideWithin_ns &&
          held < kMaxHeldRecords) {
        return false;
      }
      use(provider() == nullptr ? nullptr : make_lttng_sink(*provider()));
      break;
    default:
      use(nullptr);
      break;
  }
  return true;
}

void SinkChoice::use(std::unique_ptr<Sink> sink) noexcept {
  if (sink_ != nullptr) {
    const Sink::Counts counts = sink_->counts();
    earlier_.lost_elsewhere += counts.written + counts.lost_elsewhere;
    earlier_.lost_disk_full += counts.lost_disk_full;
    earlier_.lost_rotated_out += counts.lost_rotated_out;
    sink_->close();
  }
  counts_only_ = sink == nullptr;
  sink_ = std::move(sink);
  if (sink_ == nullptr) sink_.reset(new (std::nothrow) NullSink);
}

void SinkChoice::use_ctf() noexcept {
  std::string directory;
  std::string error;
  if (!make_output_directory(options_.directory, directory, error)) {
    core::say(("no trace is written, operators are only counted: " + error).c_str());
    return use(nullptr);
  }
  if (!error.empty()) core::say(error.c_str());
  CtfSinkOptions ctf;
  ctf.output_directory = directory;
  ctf.trace_name = options_.trace_name;
  ctf.max_bytes = options_.max_bytes;
  ctf.when_full = options_.when_full;
  ctf.say = core::say;
  std::unique_ptr<Sink> sink = make_ctf_sink(ctf, error);
  if (sink == nullptr) {
    core::say(("no trace is written, operators are only counted: " + error).c_str());
  }
  use(std::move(sink));
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
