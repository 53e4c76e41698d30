#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "flush/ctf/packet.h"

namespace torchtrace::flush {
namespace {

constexpr std::size_t kOpFixedBytes = 9 + 8 + 8 + 4 * 3 + 8 * 4 + 4 + 2 + 1 + 1 + 1;
static_assert(CtfEvent<torchtrace_op>::kFixedBytes == kOpFixedBytes);
static_assert(CtfEvent<torchtrace_op>::kStrings == 1);
static_assert(CtfEvent<torchtrace_process>::kStrings == 8);

class ctf_packet : public testing::Test {
 protected:
  ctf_packet() { packet_.begin(page_); }

  bool append_op(const char* name, std::uint64_t ts = 7) {
    torchtrace_op op{};
    op.name = name;
    return packet_.append(op, ts);
  }

  const CtfPacketContext& finish() {
    packet_.finish(CtfUuid{}, 3, 5);
    std::memcpy(&context_, page_ + sizeof(CtfPacketHeader), sizeof context_);
    return context_;
  }

  std::string text_at(std::size_t offset) const {
    return reinterpret_cast<const char*>(page_ + offset);
  }

  static constexpr std::size_t kFirstName = kCtfPacketPrologueBytes + kOpFixedBytes - 1;

  alignas(kCtfPacketBytes) std::byte page_[kCtfPacketBytes];
  CtfPacket packet_;
  CtfPacketContext context_{};
};

TEST_F(ctf_packet, states_what_it_holds) {
  ASSERT_TRUE(append_op("aten::add.Tensor", 100));
  ASSERT_TRUE(append_op("aten::relu", 250));
  const CtfPacketContext& context = finish();
  EXPECT_EQ(context.timestamp_begin, 100U);
  EXPECT_EQ(context.timestamp_end, 250U);
  EXPECT_EQ(context.content_size, 8 * (kCtfPacketPrologueBytes + 2 * kOpFixedBytes + 16 + 10));
  EXPECT_EQ(context.packet_size, 8 * kCtfPacketBytes);
  EXPECT_EQ(context.packet_seq_num, 3U);
  EXPECT_EQ(context.events_discarded, 5U);
}

TEST_F(ctf_packet, refuses_what_does_not_fit_and_stays_as_it_was) {
  const std::string name(30, 'x');
  std::size_t appended = 0;
  while (append_op(name.c_str(), appended)) ++appended;
  EXPECT_EQ(appended, (kCtfPacketBytes - kCtfPacketPrologueBytes) / (kOpFixedBytes + 30));
  EXPECT_EQ(finish().content_size, 8 * (kCtfPacketPrologueBytes + appended * (kOpFixedBytes + 30)));
  EXPECT_EQ(context_.timestamp_end, appended - 1);
}

TEST_F(ctf_packet, is_filled_to_its_last_byte) {
  std::size_t left = kCtfPacketBytes - kCtfPacketPrologueBytes;
  const std::string name(100, 'x');
  for (; left >= 2 * (kOpFixedBytes + 100); left -= kOpFixedBytes + 100) {
    ASSERT_TRUE(append_op(name.c_str()));
  }
  const std::string last(left - kOpFixedBytes, 'y');
  EXPECT_FALSE(append_op((last + "y").c_str()));
  EXPECT_TRUE(append_op(last.c_str()));
  EXPECT_EQ(finish().content_size, 8 * kCtfPacketBytes);
}

TEST_F(ctf_packet, leaves_nothing_of_an_earlier_packet_behind_its_content) {
  std::memset(page_, 0xAA, sizeof page_);
  ASSERT_TRUE(append_op("aten::mm"));
  for (std::size_t i = finish().content_size / 8; i < kCtfPacketBytes; ++i) {
    ASSERT_EQ(page_[i], std::byte{0}) << "byte " << i;
  }
}

TEST_F(ctf_packet, writes_no_empty_string) {
  ASSERT_TRUE(append_op(""));
  EXPECT_EQ(text_at(kFirstName), "unknown");
  packet_.begin(page_);
  ASSERT_TRUE(append_op(nullptr));
  EXPECT_EQ(text_at(kFirstName), "unknown");
  packet_.begin(page_);
  ASSERT_TRUE(append_op("\xE2\x82"));
  EXPECT_EQ(text_at(kFirstName), "?");
}

TEST_F(ctf_packet, cuts_a_long_string_between_two_characters) {
  const std::string name = std::string(kCtfMaxStringBytes - 1, 'n') + "\xC3\xA9" + "tail";
  ASSERT_TRUE(append_op(name.c_str()));
  EXPECT_EQ(text_at(kFirstName), std::string(kCtfMaxStringBytes - 1, 'n'));
}

TEST_F(ctf_packet, has_room_for_any_event_with_a_part_of_each_of_its_strings) {
  const std::string text(5000, 't');
  torchtrace_process process{};
  process.host = process.command = process.torch_version = process.torch_path = text.c_str();
  process.torch_layout = process.agent_version = process.config_digest = process.clock =
      text.c_str();
  ASSERT_TRUE(packet_.append(process, 1));
  EXPECT_EQ(finish().content_size, 8 * kCtfPacketBytes);
  // Three strings of the greatest length, what remains, and the share of each of the last four.
  constexpr std::size_t kNumbersBefore = 36;
  constexpr std::size_t kNumbersBehind = 56;
  std::size_t at = kCtfPacketPrologueBytes + kCtfEventHeaderBytes + kNumbersBefore;
  for (const std::size_t length : {1024, 1024, 1024, 323, 128, 128, 128, 128}) {
    EXPECT_EQ(text_at(at), std::string(length, 't'));
    at += length + 1;
  }
  EXPECT_EQ(at + kNumbersBehind, kCtfPacketBytes);
}

}  // namespace
}  // namespace torchtrace::flush
