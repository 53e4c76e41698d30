#pragma once

#include <string>

namespace torchtrace::flush {

/// Creates the folder `path` (0700) with its file `metadata` (0600), which is there in full or not
/// at all: a reader that comes while the program runs never sees half of it.
/// Returns false, with one sentence in `error` and nothing left behind, if `path` exists already or
/// cannot be written.
/// Thread: any. Errors: never throws, except for want of memory.
bool create_trace_folder(const std::string& path, const std::string& metadata, std::string& error);

/// Removes a trace folder in which nothing was written but what a trace begins with.
void remove_trace_folder(const std::string& path) noexcept;

/// Returns the system's words for `error`, an errno value.
std::string error_text(int error);

}  // namespace torchtrace::flush
