#pragma once

#include <cstdint>
#include <string>

namespace torchtrace::bench {

/// CPU time of the calling thread: what it waits for a CPU is the machine's affair.
std::uint64_t cpu_time_ns() noexcept;

/// Throws std::runtime_error if a function of the switch has returned a sentence.
void throw_if(const char* problem);

/// Registers the variant of this name; "none_again" is "none". Errors: throws std::runtime_error.
void set_variant(const std::string& name);

}  // namespace torchtrace::bench
