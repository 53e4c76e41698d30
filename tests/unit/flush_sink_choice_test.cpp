#include <gtest/gtest.h>

#include "flush/sink_choice.h"

namespace torchtrace::flush {
namespace {

SinkChoice decided(config::SinkKind kind) {
  SinkChoice::Options options;
  options.kind = kind;
  options.provider_path = "/nonexistent/libtorchtrace-lttng.so";
  return SinkChoice(options);
}

TEST(sink_choice, wants_operators_that_are_only_counted) {
  SinkChoice choice = decided(config::SinkKind::kNone);
  EXPECT_TRUE(choice.wants_operators()) << "while it is not yet decided";
  EXPECT_TRUE(choice.update(0, true));
  EXPECT_TRUE(choice.counts_only());
  EXPECT_TRUE(choice.wants_operators());
}

TEST(sink_choice, goes_on_counting_where_lttng_cannot_be_loaded) {
  SinkChoice choice = decided(config::SinkKind::kLttng);
  choice.load_provider();
  EXPECT_TRUE(choice.update(0, true));
  EXPECT_TRUE(choice.counts_only());
  EXPECT_TRUE(choice.wants_operators());
}

}  // namespace
}  // namespace torchtrace::flush
