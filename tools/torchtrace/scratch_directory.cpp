#include "scratch_directory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace torchtrace::cli {
namespace {

/// A socket's name has at most 107 bytes (sun_path, unix(7)); LTTng's longest one below its home is
/// `/.lttng/ustconsumerd64/command`, and our own part is 22.
constexpr std::size_t kMaxBaseLength = 50;

std::string base_directory() {
  const char* variable = std::getenv("TMPDIR");
  const std::string base = variable != nullptr ? variable : "";
  return base.empty() || base.size() > kMaxBaseLength ? "/tmp" : base;
}

}  // namespace

std::unique_ptr<ScratchDirectory> ScratchDirectory::create(std::string& error) {
  std::string path = base_directory() + "/torchtrace-run-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    error = "cannot create a folder in " + base_directory() + ": " + strerror(errno);
    return nullptr;
  }
  return std::unique_ptr<ScratchDirectory>(new ScratchDirectory(std::move(path)));
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;  // what a daemon still holds open goes with it
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace torchtrace::cli
