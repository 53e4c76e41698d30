#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "flush/ctf_sink.h"

namespace torchtrace::flush {

/// A directory of its own for each test, and a short way to feed a sink.
class CtfSinkFixture : public testing::Test {
 public:
  CtfSinkFixture() : directory_(make_directory()) {}
  ~CtfSinkFixture() override { std::filesystem::remove_all(directory_); }

 protected:
  CtfSinkOptions options(const char* name = "trace") const {
    CtfSinkOptions options;
    options.output_directory = directory_;
    options.trace_name = name;
    return options;
  }

  /// The sink, or nullptr with the sentence in `error_`.
  std::unique_ptr<Sink> make(const CtfSinkOptions& options) {
    return make_ctf_sink(options, error_);
  }

  std::string folder(const char* name = "trace") const { return directory_ + "/" + name; }

  /// Hands `count` operators to `sink`, 1 us apart, with the end of a 10 ms period each 10 000.
  void feed(Sink& sink, std::uint64_t count) {
    torchtrace_op op{};
    op.name = "aten::add.Tensor";
    for (std::uint64_t i = 0; i < count; ++i) {
      op.ts = now_ns_ += 1000;
      sink.op(op);
      if (i % 10'000 == 9'999) sink.end_of_period(now_ns_);
    }
  }

  /// Lets the packet that is open grow old enough to be written.
  void flush(Sink& sink) {
    sink.end_of_period(now_ns_);
    sink.end_of_period(now_ns_ += 1'000'000'000);
  }

  /// Writes the final receipt as the flush thread does, and closes.
  void finish(Sink& sink, std::uint64_t recorded) const {
    const Sink::Counts counts = sink.counts();
    torchtrace_receipt receipt{};
    receipt.ts = now_ns_;
    receipt.final = 1;
    receipt.started = receipt.recorded = recorded;
    receipt.written = counts.written;
    receipt.lost_disk_full = counts.lost_disk_full;
    receipt.lost_rotated_out = counts.lost_rotated_out;
    sink.receipt(receipt);
    sink.close();
  }

  static std::uint64_t sum(const Sink::Counts& counts) {
    return counts.written + counts.lost_disk_full + counts.lost_rotated_out + counts.lost_elsewhere;
  }

  std::string directory_;
  std::string error_;
  std::uint64_t now_ns_ = 1'000'000'000;

 private:
  static std::string make_directory() {
    std::string name = (std::filesystem::temp_directory_path() / "torchtrace-test-XXXXXX").string();
    return ::mkdtemp(name.data());
  }
};

}  // namespace torchtrace::flush
