#pragma once

#include <memory>
#include <string>

namespace torchtrace::cli {

/// A private folder (mode 0700) for temporary files, removed with all that is in it at the end.
class ScratchDirectory {
 public:
  /// Below TMPDIR, or below /tmp where that is too long for the sockets that go into it.
  /// Errors: nullptr and a sentence in `error`.
  static std::unique_ptr<ScratchDirectory> create(std::string& error);
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit ScratchDirectory(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace torchtrace::cli
