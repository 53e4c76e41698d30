/* Preloaded beside the agent: from the moment at which the file that STEP_FILE names exists, says
 * that CLOCK_MONOTONIC_RAW is a millisecond later, as a counter that was set back shows it. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): theirs are reserved names
int clock_gettime(clockid_t id, struct timespec* now) {
  const char* file = getenv("STEP_FILE");
  const int result = (int)syscall(SYS_clock_gettime, id, now);
  if (id != CLOCK_MONOTONIC_RAW || file == NULL || access(file, F_OK) != 0) return result;
  now->tv_nsec += 1000000;
  if (now->tv_nsec >= 1000000000) {
    now->tv_nsec -= 1000000000;
    ++now->tv_sec;
  }
  return result;
}
