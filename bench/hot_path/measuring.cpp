#include "hot_path/measuring.h"

#include <time.h>

#include <stdexcept>

#include "switch/switch.h"

namespace torchtrace::bench {

std::uint64_t cpu_time_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

void throw_if(const char* problem) {
  if (problem != nullptr) throw std::runtime_error(problem);
}

void set_variant(const std::string& name) {
  throw_if(torchtrace_switch_set(name == "none_again" ? "none" : name.c_str()));
}

}  // namespace torchtrace::bench
