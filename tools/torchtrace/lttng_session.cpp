#include "lttng_session.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <regex>

namespace torchtrace::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kCommandLimit = seconds(10);
/// The daemon writes while the program runs; at the end at most the buffers are left. What takes
/// longer does not come: a program that is killed in the middle of an event (lttng-ust before 2.15)
/// leaves a sub-buffer that is not completed in any time worth waiting.
constexpr milliseconds kDataLimit = seconds(15);

constexpr std::uint64_t kKibibyte = 1024;
constexpr std::uint64_t kMebibyte = 1024 * kKibibyte;
constexpr unsigned kSubbuffersPerCpu = 4;

std::uint64_t free_shm_bytes() {
  struct statvfs shm = {};
  if (access("/dev/shm", W_OK) != 0 || statvfs("/dev/shm", &shm) != 0) return 0;
  return std::uint64_t{shm.f_bavail} * shm.f_frsize;
}

/// LTTng from 2.15 on writes CTF 2 unless told otherwise, which Babeltrace before 2.1 cannot read.
bool writes_ctf2_by_default(const std::string& version) {
  std::smatch match;
  if (!std::regex_search(version, match, std::regex(R"(\b(\d+)\.(\d+))"))) return false;
  const int major = std::stoi(match[1]);
  return major > 2 || (major == 2 && std::stoi(match[2]) >= 15);
}

std::string mebibytes(std::uint64_t bytes) { return std::to_string(bytes / kMebibyte) + " MiB"; }

}  // namespace

std::uint64_t subbuffer_bytes(std::uint64_t cpus, std::uint64_t free_shm_bytes) {
  std::uint64_t bytes = cpus <= 64 ? kMebibyte : 512 * kKibibyte;
  while (bytes * (kSubbuffersPerCpu + 1) * cpus > free_shm_bytes / 2) {
    bytes /= 2;
    if (bytes < 128 * kKibibyte) return 0;
  }
  return bytes;
}

bool LttngSession::set_up(const std::string& directory, std::string& error) const {
  const auto cpus = static_cast<std::uint64_t>(sysconf(_SC_NPROCESSORS_CONF));
  const std::uint64_t bytes = subbuffer_bytes(cpus, free_shm_bytes());
  if (bytes == 0) {
    error = "its buffers for " + std::to_string(cpus) + " CPUs do not fit into /dev/shm, where " +
            mebibytes(free_shm_bytes()) + " can be had";
    return false;
  }
  std::vector<std::string> create = {"create", name_, "--output=" + directory};
  if (writes_ctf2_by_default(daemon_.version())) create.emplace_back("--trace-format=ctf-1.8");
  const std::string session = "--session=" + name_;
  std::vector<std::vector<std::string>> commands = {
      create,
      {"enable-channel", "--userspace", session, "--discard", "--buffers-uid",
       "--subbuf-size=" + std::to_string(bytes),
       "--num-subbuf=" + std::to_string(kSubbuffersPerCpu), "torchtrace"},
      {"enable-event", "--userspace", session, "--channel=torchtrace", "torchtrace:*"}};
  if (daemon_.is_shared())
    commands.push_back({"untrack", "--userspace", session, "--vpid", "--all"});
  commands.push_back({"start", name_});
  for (const auto& command : commands) {
    const CommandResult result = daemon_.lttng(command, kCommandLimit);
    if (result.is_ok()) continue;
    error = "`lttng " + command[0] + "` failed: " + result.reason();
    return false;
  }
  return true;
}

std::unique_ptr<LttngSession> LttngSession::start(const LttngDaemon& daemon,
                                                  const std::string& directory,
                                                  std::string& error) {
  std::unique_ptr<LttngSession> session(new LttngSession(daemon));
  if (!session->set_up(directory, error)) return nullptr;
  return session;
}

std::string LttngSession::add(const std::vector<pid_t>& processes) const {
  if (processes.empty() || !daemon_.is_shared()) return {};
  std::string list;
  for (const pid_t pid : processes) list += (list.empty() ? "" : ",") + std::to_string(pid);
  const CommandResult track = daemon_.lttng(
      {"track", "--userspace", "--session=" + name_, "--vpid=" + list}, kCommandLimit);
  return track.is_ok() ? "" : "process " + list + " is not recorded: " + track.reason();
}

std::string LttngSession::finish() {
  const std::string consequence = "; the last events may be missing";
  const CommandResult stop = daemon_.lttng({"stop", "--no-wait", name_}, kProbeLimit);
  if (stop.is_timed_out) return "LTTng's session daemon does not answer any more" + consequence;
  if (!stop.is_ok()) return "`lttng stop` failed: " + stop.reason() + consequence;
  const CommandResult destroy = daemon_.lttng({"destroy", name_}, kDataLimit);
  is_finished_ = destroy.is_ok();
  if (is_finished_) return {};
  if (!destroy.is_timed_out) return "`lttng destroy` failed: " + destroy.reason() + consequence;
  return "LTTng did not finish the trace within " +
         std::to_string(std::chrono::duration_cast<seconds>(kDataLimit).count()) +
         " s, as when a program is killed while it writes an event" + consequence;
}

LttngSession::~LttngSession() {
  if (!is_finished_) daemon_.lttng({"destroy", "--no-wait", name_}, kProbeLimit);
}

}  // namespace torchtrace::cli
