#pragma once

#include <cstdint>

/// Switches, within one process, between what PyTorch may call for each operator, so that variants
/// can be measured in interleaved rounds: two whole processes differ by more than what is measured.
///
/// `torchtrace` is the shipped code: the agent's own static libraries, linked into a shared library
/// with the agent's flags, with a real flush thread behind it. Only what the agent does once is
/// replaced: finding PyTorch and reacting to fork and exit. Plain C, since Python calls it through
/// ctypes.
/// Thread: one; the operators measured may run on others.
namespace torchtrace::bench {

enum SwitchVariant : int {
  kSwitchNone = 0,        ///< No callback registered.
  kSwitchFloor = 1,       ///< Empty start and end: what PyTorch itself takes.
  kSwitchTorchtrace = 2,  ///< The agent's callbacks.
};

}  // namespace torchtrace::bench

extern "C" {

/// Prepares the switch for the libtorch that the process has loaded. Returns nullptr, or why not.
const char* torchtrace_switch_open();

/// Registers what `variant`, a `SwitchVariant`, says instead of what was registered before.
void torchtrace_switch_set(int variant);

/// Waits until the flush thread has taken every record.
void torchtrace_switch_drain();

/// Operators started and lost so far by the `torchtrace` variant.
void torchtrace_switch_counts(std::uint64_t* started, std::uint64_t* dropped);

/// Ends the trace.
void torchtrace_switch_close();
}
