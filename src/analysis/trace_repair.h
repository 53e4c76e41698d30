#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace torchtrace::analysis {

/// Opens the parts of one trace for a try; returns why that fails, or an empty string.
using TryOpen = std::function<std::string(const std::vector<std::string>& folders)>;

/// Stand-ins for the folders of a trace that cannot be opened as they are, without what keeps them
/// from it: links to the stream files that can be read, and copies of the beginnings of those that
/// are damaged or were cut off (by a full disk, a crash, an unfinished copy), up to their last good
/// packet. The folders live in a temporary directory as long as this object.
///
/// libbabeltrace2 refuses a whole trace for one bad packet in one of its files.
class RepairedTrace {
 public:
  /// Errors: throws TraceError where the metadata cannot be read or no stream file can.
  RepairedTrace(const std::vector<std::string>& folders, const TryOpen& try_open);
  ~RepairedTrace();
  RepairedTrace(const RepairedTrace&) = delete;
  RepairedTrace& operator=(const RepairedTrace&) = delete;

  const std::vector<std::string>& folders() const noexcept { return folders_; }
  /// One sentence per file that was left out or cut.
  const std::vector<std::string>& missing() const noexcept { return missing_; }

 private:
  void repair_folder(const std::string& original, const std::string& repaired,
                     const TryOpen& try_open);
  bool add_stream_file(const std::string& file, const std::string& repaired,
                       const TryOpen& try_open);
  std::string try_alone(const std::string& file, std::uint64_t bytes, const TryOpen& try_open);
  std::uint64_t find_good_beginning(const std::string& file, const TryOpen& try_open);

  std::string root_;   ///< The temporary directory.
  std::string alone_;  ///< A folder in it, to open one stream file by itself.
  std::vector<std::string> folders_;
  std::vector<std::string> missing_;
};

/// Where the packets of `file` begin, in bytes; ascending, the first at 0. Empty where `file`
/// cannot be read or is shorter than a packet's beginning.
///
/// A CTF packet begins with a magic number and, where the trace has one, its UUID. So the places
/// that repeat the first 20 bytes of the file are packets, whatever the layout of their headers is.
/// Source: CTF 1.8.3, section 5.1 "Packet header".
std::vector<std::uint64_t> packet_offsets(const std::string& file);

}  // namespace torchtrace::analysis
