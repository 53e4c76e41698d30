#pragma once

#include <atomic>
#include <string>

/// What the parts of libtorch_program share. Only libtorch_program.cpp includes PyTorch's headers,
/// which take most of a minute to compile.
namespace torchtrace::test {

/// Runs COUNT times add_, every tenth one inside a user scope "tenth"; returns COUNT.
double loop(int count);

/// The operators of `loop(1)` without a scope.
double warm_up();

/// As loop, then opens a user scope "held open", counts that in `holding`, and waits for ever.
[[noreturn]] void loop_and_hold_open(int count, std::atomic<int>& holding);

/// Adds a callback of the thread's own to PyTorch's callback manager and removes it again.
void add_and_remove_callback();

/// Kinds of work, by file. Each prints one line. Returns -1 for a kind that is not its own, else
/// the exit code; some never return.
int many_threads(const std::string& kind, int count);
int children(const std::string& kind, int count, char* program);
int ways_to_end(const std::string& kind, int count);

}  // namespace torchtrace::test
