#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "file_descriptor.h"

namespace torchtrace::cli {

/// Where traced processes announce themselves (flush/run_announcement.h): they then know that a
/// session is certain to come, and a session of root's, which could see every process on the
/// machine, takes the run's own only, whichever way they were started.
class RunSocket {
 public:
  /// In `directory`, which is opened up to be searched by all: a process that gave up root may
  /// announce itself too.
  /// Errors: nullptr and a sentence in `error`.
  static std::unique_ptr<RunSocket> create(const std::string& directory, std::string& error);
  ~RunSocket();
  RunSocket(const RunSocket&) = delete;
  RunSocket& operator=(const RunSocket&) = delete;

  const std::string& path() const { return path_; }
  int fd() const { return fd_.get(); }

  /// The processes that have announced themselves since the last call. Does not wait.
  std::vector<pid_t> take() const;

 private:
  RunSocket(std::string path, FileDescriptor fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  FileDescriptor fd_;
};

}  // namespace torchtrace::cli
