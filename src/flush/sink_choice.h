#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "config/config.h"
#include "flush/lttng_provider_api.h"
#include "flush/sink.h"

namespace torchtrace::flush {

/// Decides where the trace goes, and moves it when an LTTng session comes later.
///
/// `auto`: LTTng when a session has the events enabled within a second of the provider's loading,
/// else the built-in CTF sink; at once where no session daemon has a socket. Until that is decided
/// there is no sink, and the flush thread holds everything back.
/// `lttng`: LTTng only; operators that no session records are counted `lost_elsewhere`, until the
/// observer, told by `wants_operators`, reports no more.
/// `ctf`: no LTTng library is loaded. `none`: counts only. `snapshot`: no sink but during a dump.
/// Thread: the flush thread.
class SinkChoice {
 public:
  struct Options {
    config::SinkKind kind = config::SinkKind::kAuto;
    std::string provider_path;  ///< libtorchtrace-lttng.so
    std::string lttng_home;     ///< $LTTNG_HOME, or $HOME; empty if neither is set.
    std::string run_socket;     ///< $TORCHTRACE_RUN_SOCKET, or empty.
    std::string directory;      ///< Absolute; may not exist yet.
    std::string trace_name;
    std::uint64_t max_bytes = 0;
    config::WhenFull when_full = config::WhenFull::kRotate;
  };
  /// Bound on what is held back while the choice is open; at 64 MiB it is made for CTF.
  static constexpr std::size_t kMaxHeldRecords = (64U << 20U) / 64;
  /// From when the provider has been loaded: that may take as long, on a machine that is busy.
  static constexpr std::uint64_t kDecideWithin_ns = 1'000'000'000;
  /// The same under `torchtrace run`, whose session is certain to come; it takes one command there.
  static constexpr std::uint64_t kDecideInRun_ns = 5'000'000'000;
  /// The same at the end of the program, where there is a daemon but perhaps no session.
  static constexpr std::uint64_t kPatienceAtEnd_ns = 200'000'000;

  explicit SinkChoice(Options options) : options_(std::move(options)) {}

  /// Loads the LTTng provider if the options want it. Takes the loader lock.
  void load_provider();

  /// nullptr if it is not loaded.
  const torchtrace_lttng_provider* provider() const noexcept {
    return provider_.load(std::memory_order_acquire);
  }

  /// Looks whether the choice can be made or has to change. `held` records are held back;
  /// `must_decide` at the end. Returns true if there is a new sink.
  bool update(std::size_t held, bool must_decide);

  /// False while the trace goes to LTTng and no session records: operators would be in none.
  bool wants_operators() const noexcept { return !is_lttng_ || want_lttng(); }

  /// For `snapshot`, instead of `update`: begins the trace of the next dump, which `sink` then is.
  /// False, and said, if it cannot be written.
  bool begin_dump();

  /// Ends it: there is no sink until the next one.
  void end_dump();

  /// At the end of a short program: true while a session daemon may not have told lttng-ust yet
  /// that a session wants the events.
  bool is_worth_waiting() const noexcept;

  /// nullptr while undecided.
  Sink* sink() noexcept { return sink_.get(); }

  /// The present sink's counts, with what earlier sinks were handed as lost to this one.
  Sink::Counts counts() const noexcept;

  /// The CTF trace that is written now; both empty if it is none.
  const std::string& trace_directory() const noexcept { return trace_directory_; }
  const std::string& trace_name() const noexcept { return trace_name_; }

  /// True if the operators are only counted: no trace could be, or was to be, written.
  bool counts_only() const noexcept { return counts_only_; }

 private:
  bool want_lttng() const noexcept;
  bool may_wait(std::uint64_t limit_ns) const noexcept;
  void leave_sink();
  void use(std::unique_ptr<Sink> sink);
  void use_ctf();
  std::unique_ptr<Sink> make_ctf(const std::string& name, std::string& error);

  Options options_;
  unsigned dumps_ = 0;
  std::atomic<const torchtrace_lttng_provider*> provider_{nullptr};
  std::unique_ptr<Sink> sink_;
  std::uint64_t loaded_ns_ = 0;
  Sink::Counts earlier_;  ///< Of sinks that were left.
  std::string trace_directory_;
  std::string trace_name_;
  bool daemon_answers_ = false;
  bool is_in_run_ = false;
  bool is_lttng_ = false;
  bool counts_only_ = false;
};

}  // namespace torchtrace::flush
