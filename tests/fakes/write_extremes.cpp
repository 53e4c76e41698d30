// write_extremes OUTDIR: writes every event several times with the built-in CTF sink, with values
// from the ends of each type's range and strings that are hard on writers and readers.
// Prints one JSON object per event, in order; a string is given as the hexadecimal digits of its
// bytes, null for a null pointer.
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <string>

#include "flush/ctf_sink.h"

namespace {

using torchtrace::flush::Sink;

const std::string kLongest(1024, 'n');
const std::string kTooLong(3000, 'm');
const char* const kTexts[] = {
    "aten::add.Tensor",
    "",
    nullptr,
    "two\nlines, a\ttab, \"quotes\", a \\ and {braces = 1}",
    "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x94\xA5",
    "latin-1 \xE9\xFC, cut \xE2\x82, overlong \xC0\xAF, surrogate \xED\xA0\x80.",
    kLongest.c_str(),
    kTooLong.c_str(),
};

/// Values of one event: each field gets another text; numbers are the least, the greatest or, field
/// by field, different.
struct Values {
  std::size_t round;
  std::size_t field = 0;

  template <typename Integer>
  Integer number() {
    ++field;
    if (round == 0) return std::numeric_limits<Integer>::min();
    if (round == 1) return std::numeric_limits<Integer>::max();
    return static_cast<Integer>(round * 0x0102030405060708U + field);
  }
  std::uint8_t u8() { return number<std::uint8_t>(); }
  std::uint16_t u16() { return number<std::uint16_t>(); }
  std::uint32_t u32() { return number<std::uint32_t>(); }
  std::uint64_t u64() { return number<std::uint64_t>(); }
  std::int64_t i64() { return number<std::int64_t>(); }
  const char* str() { return kTexts[(round + field++) % std::size(kTexts)]; }
};

void print(const char* text) {
  if (text == nullptr) {
    std::printf("null");
    return;
  }
  std::printf("\"");
  for (; *text != '\0'; ++text) std::printf("%02x", static_cast<unsigned char>(*text));
  std::printf("\"");
}
void print(std::uint64_t value) { std::printf("%llu", static_cast<unsigned long long>(value)); }
void print(std::int64_t value) { std::printf("%lld", static_cast<long long>(value)); }
void print(std::uint32_t value) { print(std::uint64_t{value}); }
void print(std::uint16_t value) { print(std::uint64_t{value}); }
void print(std::uint8_t value) { print(std::uint64_t{value}); }

#define FILL(kind, name) event.name = values.kind();
#define PRINT(kind, name)           \
  std::printf(", \"" #name "\": "); \
  print(event.name);
#define WRITE(NAME, name)                               \
  void write_##name(Sink& sink, std::size_t round) {    \
    Values values{round};                               \
    torchtrace_##name event{};                          \
    TORCHTRACE_FIELDS_##NAME(FILL) sink.name(event);    \
    std::printf("{\"event\": \"" #name "\"");           \
    TORCHTRACE_FIELDS_##NAME(PRINT) std::printf("}\n"); \
  }
TORCHTRACE_EVENTS(WRITE)
#undef WRITE
#undef PRINT
#undef FILL

void write_all(Sink& sink) {
  for (std::size_t round = 0; round < 2 + 2 * std::size(kTexts); ++round) {
#define CALL(NAME, name) write_##name(sink, round);
    TORCHTRACE_EVENTS(CALL)
#undef CALL
  }
}

}  // namespace

int main(int argc, char** argv) {
  char absolute[PATH_MAX];
  if (argc != 2 || ::realpath(argv[1], absolute) == nullptr) {
    std::fprintf(stderr, "usage: write_extremes DIRECTORY\n");
    return 2;
  }
  torchtrace::flush::CtfSinkOptions options;
  options.output_directory = absolute;
  options.trace_name = "extremes";
  std::string error;
  const auto sink = torchtrace::flush::make_ctf_sink(options, error);
  if (!sink) {
    std::fprintf(stderr, "write_extremes: %s\n", error.c_str());
    return 1;
  }
  write_all(*sink);
  sink->close();
  return 0;
}
