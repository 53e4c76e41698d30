#include "flush/ctf_sink.h"

#include "flush/ctf/metadata.h"
#include "flush/ctf/stream.h"
#include "flush/ctf/trace_folder.h"

namespace torchtrace::flush {
namespace {

class CtfSink final : public Sink {
 public:
  CtfSink(const CtfSinkOptions& options, const std::string& folder, const CtfUuid& uuid)
      : stream_(options, folder, uuid) {}

  bool open(std::string& error) { return stream_.open(error); }

  void process(const torchtrace_process& event) noexcept override { stream_.append(event, false); }
  void thread(const torchtrace_thread& event) noexcept override { stream_.append(event, false); }
  void op(const torchtrace_op& event) noexcept override { stream_.append(event, true); }
  void op_begin(const torchtrace_op_begin& event) noexcept override {
    stream_.append(event, false);
  }
  void op_end(const torchtrace_op_end& event) noexcept override {
    stream_.append(event, event.outcome == TORCHTRACE_OUTCOME_ENDED);
  }
  void loss(const torchtrace_loss& event) noexcept override { stream_.append(event, false); }
  void receipt(const torchtrace_receipt& event) noexcept override {
    if (event.final != 0) {
      stream_.append_final(event);
    } else {
      stream_.append(event, false);
    }
  }

  void end_of_period(std::uint64_t now_ns) noexcept override { stream_.end_of_period(now_ns); }
  bool wants_state() noexcept override { return stream_.take_state_request(); }
  Counts counts() const noexcept override { return stream_.counts(); }
  void close() noexcept override { stream_.close(); }

 private:
  CtfStream stream_;
};

std::unique_ptr<Sink> make_or_throw(const CtfSinkOptions& options, std::string& error) {
  const std::string folder = options.output_directory + "/" + options.trace_name;
  CtfTraceIdentity identity = describe_this_process(options.trace_name);
  if (options.pid != 0) {
    identity.pid = options.pid;
    identity.process_name = options.process_name;
  }
  if (!create_trace_folder(folder, ctf_metadata(identity), error)) return nullptr;
  auto sink = std::make_unique<CtfSink>(options, folder, identity.uuid);
  if (sink->open(error)) return sink;
  remove_trace_folder(folder);
  return nullptr;
}

}  // namespace

std::unique_ptr<Sink> make_ctf_sink(const CtfSinkOptions& options, std::string& error) noexcept {
  try {
    return make_or_throw(options, error);
  } catch (...) {
    error = "out of memory";  // short enough for std::string to need none
    return nullptr;
  }
}

}  // namespace torchtrace::flush
