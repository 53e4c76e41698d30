#include "analysis/trace_repair.h"

#include <array>
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
using Signature = std::array<char, kSignatureBytes>;

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

/// Offset of the last occurrence of `signature` in the first `end` bytes of `file`, read backwards
/// in pieces that overlap by a signature's length.
std::uint64_t find_last(std::ifstream& file, const Signature& signature, std::uint64_t end) {
  constexpr std::uint64_t kPieceBytes = 1U << 20U;
  std::string piece;
  while (end >= kSignatureBytes) {
    const std::uint64_t begin = end > kPieceBytes ? end - kPieceBytes : 0;
    piece.resize(end - begin);
    file.seekg(static_cast<std::streamoff>(begin));
    if (!file.read(piece.data(), static_cast<std::streamsize>(piece.size()))) {
      return 0;
    }
    const std::size_t at = piece.rfind(signature.data(), std::string::npos, signature.size());
    if (at != std::string::npos) {
      return begin + at;
    }
    end = begin == 0 ? 0 : begin + kSignatureBytes - 1;
  }
  return 0;
}

}  // namespace

std::uint64_t last_packet_offset(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  Signature signature;
  if (!stream.read(signature.data(), signature.size())) {
    return 0;
  }
  std::error_code error;
  const std::uint64_t size = fs::file_size(file, error);
  return error ? 0 : find_last(stream, signature, size);
}

RepairedTrace::RepairedTrace(const std::vector<std::string>& folders, const TryOpen& try_open)
    : root_(make_temporary_directory()) {
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
  const std::string metadata_problem = try_open({repaired});
  if (!metadata_problem.empty()) {
    throw TraceError("cannot read the trace '" + original + "': " + metadata_problem);
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

bool RepairedTrace::add_stream_file(const std::string& file, const std::string& repaired,
                                    const TryOpen& try_open) {
  const std::string alone = root_ + "/try";
  const auto opens = [&](std::uint64_t bytes) {
    fs::remove_all(alone);
    fs::create_directory(alone);
    fs::copy_symlink(repaired + "/metadata", alone + "/metadata");
    bytes == 0 ? link_file(file, alone) : copy_beginning(file, alone, bytes);
    return try_open({alone});
  };
  const std::string problem = opens(0);
  const std::uint64_t cut = problem.empty() ? 0 : last_packet_offset(file);
  if (!problem.empty() && (cut == 0 || !opens(cut).empty())) {
    missing_.push_back("cannot read the stream file '" + file + "': " + problem);
    return false;
  }
  if (cut != 0) {
    missing_.push_back("the last packet of '" + file + "' is cut off after " +
                       std::to_string(fs::file_size(file) - cut) + " bytes, and left out");
  }
  fs::rename(fs::path(alone) / fs::path(file).filename(),
             fs::path(repaired) / fs::path(file).filename());
  return true;
}

}  // namespace torchtrace::analysis
