/* A library with nothing in it: the loader's part of what a preloaded agent costs. */
extern const int torchtrace_bench_empty;
const int torchtrace_bench_empty = 0;
