#include "analysis/trace_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "analysis/trace_error.h"

namespace torchtrace::analysis {
namespace {

namespace fs = std::filesystem;

/// LTTng's `index` folders hold thousands of files and never a trace.
bool may_hold_traces(const fs::directory_entry& entry) {
  std::error_code ignored;
  return !entry.is_symlink(ignored) && entry.is_directory(ignored) &&
         entry.path().filename() != "index";
}

void search(const fs::path& folder, FoundTraces& found) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  std::vector<fs::path> below;
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    if (entries->path().filename() == "metadata") {
      found.folders.push_back(folder.string());
    } else if (may_hold_traces(*entries)) {
      below.push_back(entries->path());
    }
  }
  if (error) {
    found.unreadable.push_back("cannot list '" + folder.string() + "': " + error.message());
  }
  for (const fs::path& next : below) {
    search(next, found);
  }
}

void check_is_directory(const std::string& directory) {
  std::error_code error;
  const fs::file_status status = fs::status(directory, error);
  if (status.type() == fs::file_type::not_found) {
    throw TraceError("cannot read the trace '" + directory + "': no such directory");
  }
  if (error) {
    throw TraceError("cannot read the trace '" + directory + "': " + error.message());
  }
  if (status.type() != fs::file_type::directory) {
    throw TraceError("cannot read the trace '" + directory +
                     "': not a directory; give the directory that holds the trace");
  }
}

}  // namespace

FoundTraces find_traces(const std::string& directory) {
  check_is_directory(directory);
  FoundTraces found;
  search(directory, found);
  std::sort(found.folders.begin(), found.folders.end());
  std::sort(found.unreadable.begin(), found.unreadable.end());
  if (!found.folders.empty()) {
    return found;
  }
  if (!found.unreadable.empty()) {
    throw TraceError(found.unreadable.front());
  }
  std::error_code ignored;
  const bool empty = fs::is_empty(directory, ignored);
  throw TraceError("'" + directory + "' holds no trace: " +
                   (empty ? "it is empty" : "there is no file 'metadata' in it or below it"));
}

}  // namespace torchtrace::analysis
