#pragma once

#include <cstdint>

/// Switches, within one process, between what PyTorch may call for each operator, so that variants
/// can be measured in interleaved rounds: two whole processes differ by more than what is measured.
///
/// `torchtrace` is the shipped code: the agent's own static libraries, linked into a shared library
/// with the agent's flags, with a real flush thread behind it. Only what the agent does once is
/// replaced: finding PyTorch and reacting to fork and exit. Plain C, since Python calls it through
/// ctypes. Errors: functions that return text return nullptr, or one sentence.
/// Thread: one; the operators measured may run on others.
extern "C" {

/// Prepares the switch for the libtorch that the process has loaded.
const char* torchtrace_switch_open();

/// Registers what the variant of this name (variants.cpp) says instead of what was before.
const char* torchtrace_switch_set(const char* variant);

/// Waits until the flush thread has taken every record.
void torchtrace_switch_drain();

/// Operators started and lost so far by the variants that record.
void torchtrace_switch_counts(std::uint64_t* started, std::uint64_t* dropped);

/// Ends the trace.
void torchtrace_switch_close();
}
