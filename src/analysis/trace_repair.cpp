#include "analysis/trace_repair.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "analysis/trace_error.h"

namespace torchtrace::analysis {
namespace {

namespace fs = std::filesystem;

/// Magic number (4 bytes) and UUID (16 bytes).
constexpr std::size_t kSignatureBytes = 20;

std::string make_temporary_directory() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  std::string path = (error ? fs::path("/tmp") : parent) / "torchtrace-repair-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    throw TraceError("cannot make a temporary directory like '" + path +
                     "': " + std::strerror(errno));
  }
  return path;
}

std::vector<fs::path> stream_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    std::error_code ignored;
    if (name != "metadata" && name[0] != '.' && entries->is_regular_file(ignored) &&
        entries->file_size(ignored) > 0) {
      files.push_back(entries->path());
    }
  }
  return files;
}

void link_file(const fs::path& file, const fs::path& folder) {
  fs::create_symlink(fs::absolute(file), folder / file.filename());
}

void copy_beginning(const fs::path& file, const fs::path& folder, std::uint64_t bytes) {
  const fs::path copy = folder / file.filename();
  fs::copy_file(file, copy);
  fs::resize_file(copy, bytes);
}

/// Why the metadata of a trace that cannot be opened is of no use. (libbabeltrace2 2.0 only logs
/// it.)
std::string metadata_problem(const fs::path& metadata) {
  std::ifstream file(metadata, std::ios::binary);
  if (!file) {
    return std::string("cannot read its metadata: ") + std::strerror(errno);
  }
  return file.peek() == std::ifstream::traits_type::eof() ? "its metadata is empty"
                                                          : "its metadata is damaged or cut off";
}

/// `text` with every `stand_in` in it replaced by what it stands for.
std::string with_original(std::string text, const std::string& stand_in,
                          const std::string& original) {
  for (std::size_t at = text.find(stand_in); at != std::string::npos;
       at = text.find(stand_in, at + original.size())) {
    text.replace(at, stand_in.size(), original);
  }
  return text;
}

}  // namespace

std::vector<std::uint64_t> packet_offsets(const std::string& file) {
  constexpr std::size_t kPieceBytes = 1U << 20U;
  std::ifstream stream(file, std::ios::binary);
  std::string signature(kSignatureBytes, '\0');
  if (!stream.read(signature.data(), kSignatureBytes)) {
    return {};
  }
  std::vector<std::uint64_t> offsets = {0};
  std::string piece;  // Begins with what a signature may have begun in the piece before.
  for (std::uint64_t begin = kSignatureBytes; stream;) {
    const std::size_t kept = piece.size();
    piece.resize(kept + kPieceBytes);
    stream.read(piece.data() + kept, kPieceBytes);
    piece.resize(kept + static_cast<std::size_t>(stream.gcount()));
    for (std::size_t at = piece.find(signature); at != std::string::npos;
         at = piece.find(signature, at + kSignatureBytes)) {
      offsets.push_back(begin + at);
    }
    const std::size_t done = piece.size() - std::min(piece.size(), kSignatureBytes - 1);
    piece.erase(0, done);
    begin += done;
  }
  return offsets;
}

RepairedTrace::RepairedTrace(const std::vector<std::string>& folders, const TryOpen& try_open)
    : root_(make_temporary_directory()), alone_(root_ + "/try") {
  try {
    for (const std::string& folder : folders) {
      const std::string repaired = root_ + "/" + std::to_string(folders_.size());
      fs::create_directory(repaired);
      repair_folder(folder, repaired, try_open);
      folders_.push_back(repaired);
    }
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
    throw;
  }
}

RepairedTrace::~RepairedTrace() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

void RepairedTrace::repair_folder(const std::string& original, const std::string& repaired,
                                  const TryOpen& try_open) {
  link_file(fs::path(original) / "metadata", repaired);
  if (!try_open({repaired}).empty()) {
    throw TraceError("cannot read the trace '" + original +
                     "': " + metadata_problem(fs::path(original) / "metadata"));
  }
  bool any = false;
  for (const fs::path& file : stream_files(original)) {
    any = add_stream_file(file.string(), repaired, try_open) || any;
  }
  if (!any) {
    throw TraceError(missing_.empty() ? "'" + original + "' holds no stream file"
                                      : missing_.back());
  }
}

/// Opens `file` (its first `bytes`, or all where 0) as the only one of its trace; returns why not.
std::string RepairedTrace::try_alone(const std::string& file, std::uint64_t bytes,
                                     const TryOpen& try_open) {
  fs::remove_all(alone_);
  fs::create_directory(alone_);
  link_file(fs::path(file).parent_path() / "metadata", alone_);
  if (bytes == 0) {
    link_file(file, alone_);
  } else {
    copy_beginning(file, alone_, bytes);
  }
  return with_original(try_open({alone_}), alone_, fs::path(file).parent_path());
}

/// Length of the longest beginning of `file` that can be opened, 0 for none. If one packet is bad,
/// so is every longer beginning: a binary search, after the usual case that only the last one is.
std::uint64_t RepairedTrace::find_good_beginning(const std::string& file, const TryOpen& try_open) {
  const std::vector<std::uint64_t> offsets = packet_offsets(file);
  std::size_t good = 0;
  std::size_t bad = offsets.size();
  std::size_t next = bad == 0 ? 0 : bad - 1;
  while (bad - good > 1) {
    (try_alone(file, offsets[next], try_open).empty() ? good : bad) = next;
    next = good + (bad - good) / 2;
  }
  return offsets.empty() ? 0 : offsets[good];
}

bool RepairedTrace::add_stream_file(const std::string& file, const std::string& repaired,
                                    const TryOpen& try_open) {
  const std::string problem = try_alone(file, 0, try_open);
  const std::uint64_t good = problem.empty() ? 0 : find_good_beginning(file, try_open);
  if (!problem.empty() && (good == 0 || !try_alone(file, good, try_open).empty())) {
    missing_.push_back("cannot read the stream file '" + file +
                       "', not even its first packet: " + problem);
    return false;
  }
  if (good != 0) {
    missing_.push_back("the stream file '" + file + "' is cut off or damaged after byte " +
                       std::to_string(good) + " of " + std::to_string(fs::file_size(file)) +
                       ": what follows is left out");
  }
  const fs::path name = fs::path(file).filename();
  fs::rename(fs::path(alone_) / name, fs::path(repaired) / name);
  return true;
}

}  // namespace torchtrace::analysis
