#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/layout.h"
#include "core/names.h"
#include "recovery/mapping_file.h"

namespace torchtrace::recovery {

/// One thread buffer: what its present or last thread has open, and all whole records in its ring,
/// those of earlier owners among them.
struct ThreadCopy {
  struct FreeLater {
    void operator()(core::ThreadBuffer* buffer) const noexcept;
  };
  std::unique_ptr<core::ThreadBuffer, FreeLater> buffer;  ///< Without slots.
  std::vector<core::Record> records;
};

/// A private copy of a process's mapping. Everything in it that is an offset, a size or an index
/// has been checked; names and records may still be anything. The process may be running: it is
/// neither stopped nor otherwise disturbed, and what changed during the copy is left out.
class ProcessCopy {
 public:
  /// Errors: throws Error with one sentence if the file is no mapping of this version, or cut off.
  explicit ProcessCopy(const MappingFile& mapping);

  const core::ProcessHeader& header() const noexcept { return *header_; }
  core::NameArena names() const noexcept { return {names_.data(), names_.size()}; }
  /// Id of a name; `core::NameTable::kOverflowId` if it is not in the arena.
  std::uint32_t find_name(const char* text) const noexcept;
  const std::vector<ThreadCopy>& threads() const noexcept { return threads_; }

  /// Buffers that are not in the file: /dev/shm was full when their threads came.
  std::uint32_t missing_buffers() const noexcept { return missing_buffers_; }

 private:
  void check_header() const;
  void read_names();
  void read_threads();
  void read_thread(std::uint64_t offset);
  std::vector<core::Record> read_records(std::uint64_t offset, const core::ThreadHeader& before);
  void read_or_throw(std::uint64_t offset, void* to, std::size_t bytes) const;

  const MappingFile* mapping_;  ///< While it is being copied.
  std::unique_ptr<core::ProcessHeader> header_;
  std::vector<char> names_;
  std::vector<ThreadCopy> threads_;
  std::uint64_t file_bytes_ = 0;
  std::uint32_t missing_buffers_ = 0;
};

/// The command line alone, and where the process writes its traces. Errors: throw Error.
std::string read_command(const MappingFile& mapping);
std::string read_output_directory(const MappingFile& mapping);

}  // namespace torchtrace::recovery
