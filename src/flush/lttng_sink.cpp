#include "flush/lttng_sink.h"

#include <dlfcn.h>

#include <atomic>
#include <new>

namespace torchtrace::flush {
namespace {

/// Survives fork, as the library does.
std::atomic<const torchtrace_lttng_provider*> g_loaded_provider{nullptr};
std::atomic<bool> g_has_given_up{false};

class LttngSink final : public Sink {
 public:
  explicit LttngSink(const torchtrace_lttng_provider& provider) noexcept
      : provider_(provider),
        sessions_(provider.recording_sessions()),
        new_session_(sessions_ > 0) {}

  void process(const torchtrace_process& event) noexcept override {
    if (provider_.enabled_process() != 0) provider_.emit_process(&event);
  }

  void thread(const torchtrace_thread& event) noexcept override {
    if (provider_.enabled_thread() != 0) provider_.emit_thread(&event);
  }

  void op(const torchtrace_op& event) noexcept override {
    const bool records = sessions_ > 0 && provider_.enabled_op() != 0;
    count_operator(records);
    if (records) provider_.emit_op(&event);
  }

  void op_begin(const torchtrace_op_begin& event) noexcept override {
    if (sessions_ > 0 && provider_.enabled_op_begin() != 0) provider_.emit_op_begin(&event);
  }

  void op_end(const torchtrace_op_end& event) noexcept override {
    const bool records = sessions_ > 0 && provider_.enabled_op_end() != 0;
    if (event.outcome == TORCHTRACE_OUTCOME_ENDED) count_operator(records);
    if (records) provider_.emit_op_end(&event);
  }

  void loss(const torchtrace_loss& event) noexcept override {
    if (provider_.enabled_loss() != 0) provider_.emit_loss(&event);
  }

  void receipt(const torchtrace_receipt& event) noexcept override {
    if (provider_.enabled_receipt() != 0) provider_.emit_receipt(&event);
  }

  void end_of_period(std::uint64_t /*now_ns*/) noexcept override {
    const int sessions = provider_.recording_sessions();
    if (sessions > sessions_) new_session_ = true;
    if (sessions > 0 && sessions_ == 0) begin_trace();
    sessions_ = sessions;
  }

  bool wants_state() noexcept override {
    const bool wants = new_session_;
    new_session_ = false;
    return wants;
  }

  Counts counts() const noexcept override { return counts_; }

  /// Nothing is buffered here: LTTng's consumer daemon writes out what it holds.
  void close() noexcept override {}

 private:
  void count_operator(bool records) noexcept {
    ++(records ? counts_.written : counts_.lost_elsewhere);
  }

  /// `written` is what stands in this trace; what went into an earlier one is elsewhere.
  void begin_trace() noexcept {
    counts_.lost_elsewhere += counts_.written;
    counts_.written = 0;
  }

  const torchtrace_lttng_provider& provider_;
  Counts counts_;
  /// Sessions that recorded at the last end of a period. Operators are sent only while this is not
  /// 0: a trace then begins with the state that `wants_state` asks for.
  int sessions_;
  bool new_session_;
};

/// dlerror() begins with the file's path; it is null only if nothing went wrong.
std::string loader_error(const std::string& path) {
  const char* reason = dlerror();
  return reason != nullptr ? reason : path + ": cannot be loaded";
}

const torchtrace_lttng_provider* find_table(void* library, const std::string& path,
                                            std::string& error) {
  const auto table_of = reinterpret_cast<torchtrace_lttng_provider_fn>(
      dlsym(library, TORCHTRACE_LTTNG_PROVIDER_SYMBOL));
  if (table_of == nullptr) {
    error = loader_error(path);
    return nullptr;
  }
  const torchtrace_lttng_provider* table = table_of();
  if (table->version != TORCHTRACE_LTTNG_PROVIDER_VERSION ||
      table->struct_size < sizeof(torchtrace_lttng_provider)) {
    error = path + ": is of another version than this agent; install both from one build";
    return nullptr;
  }
  return table;
}

}  // namespace

const torchtrace_lttng_provider* load_lttng_provider(const std::string& path,
                                                     std::string& error) noexcept try {
  if (g_has_given_up.load(std::memory_order_relaxed)) {
    error = "forked while its parent was loading a library, this process cannot use LTTng";
    return nullptr;
  }
  if (loaded_lttng_provider() != nullptr) return loaded_lttng_provider();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    error = loader_error(path);
    return nullptr;
  }
  const torchtrace_lttng_provider* table = find_table(library, path, error);
  g_loaded_provider.store(table, std::memory_order_release);
  return table;
} catch (const std::bad_alloc&) {
  return nullptr;  // no memory for the sentence either
}

const torchtrace_lttng_provider* loaded_lttng_provider() noexcept {
  return g_loaded_provider.load(std::memory_order_acquire);
}

void give_up_lttng() noexcept {
  g_has_given_up.store(true, std::memory_order_relaxed);
  g_loaded_provider.store(nullptr, std::memory_order_release);
}

bool lttng_session_records(const torchtrace_lttng_provider& provider) noexcept {
  return provider.recording_sessions() > 0;
}

std::unique_ptr<Sink> make_lttng_sink(const torchtrace_lttng_provider& provider) noexcept {
  return std::unique_ptr<Sink>(new (std::nothrow) LttngSink(provider));
}

}  // namespace torchtrace::flush
