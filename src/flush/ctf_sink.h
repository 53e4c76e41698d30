#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "config/config.h"
#include "flush/sink.h"

namespace torchtrace::flush {

struct CtfSinkOptions {
  std::string output_directory;  ///< Absolute; exists. Holds one trace folder per process.
  std::string trace_name;        ///< `HOST-PID-STARTTIME`: the folder to create below it.
  std::uint64_t max_bytes = 0;   ///< Budget for the whole output directory; 0: none.
  config::WhenFull when_full = config::WhenFull::kRotate;

  /// Whose trace it is, where that is not this process: its id and name. 0: this one.
  std::uint32_t pid = 0;
  std::string process_name;

  /// Called at most once, on the sink's thread, with one sentence, when nothing more can be written
  /// (disk full, budget spent, trace removed); the sentence lives until it returns. May be null.
  void (*say)(const char* sentence) = nullptr;
};

/// Creates the sink that writes a CTF 1.8 trace by itself, without any daemon.
/// Thread: the flush thread. Errors: nullptr and a sentence in `error` if the trace folder or its
/// metadata cannot be written; never throws.
std::unique_ptr<Sink> make_ctf_sink(const CtfSinkOptions& options, std::string& error) noexcept;

}  // namespace torchtrace::flush
