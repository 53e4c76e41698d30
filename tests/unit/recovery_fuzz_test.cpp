#include <fcntl.h>
#include <sys/stat.h>

#include <random>

#include "recovery/error.h"
#include "recovery/moments.h"
#include "recovery/recovery.h"
#include "recovery_support.h"

/// Mappings that are cut off, damaged or hostile: an answer or a sentence, never a crash and never
/// a read outside of what was read. Under AddressSanitizer this says what it is meant to say.
namespace torchtrace::recovery {
namespace {

class damaged_mapping : public RecoveryTest {
 protected:
  void SetUp() override {
    RecoveryTest::SetUp();
    const std::string pid = kill_after([](Victim& victim) {
      victim.start("outer", 1100);
      for (int turn = 0; turn < 2000; ++turn) victim.run("op", 1200, 1300);
      victim.start("inner", 1400);
      victim.buffer->scopes[3].op_id.store(7);
      victim.buffer->header.scopes_used.store(4);
    });
    folder_ = open_mapping(pid, root_.c_str()).folder;
    ring_ = folder_ + "/ring";
    bytes_ = std::filesystem::file_size(ring_);
    const OpenFile file(open(ring_.c_str(), O_RDONLY | O_CLOEXEC));
    core::ProcessHeader header{};
    void* memory = &header;
    ASSERT_EQ(file.read(0, memory, sizeof(header)), sizeof(header));
    // All but the rest of the name arena, which is a hole.
    keep(file, 0, header.names_offset + 4096);
    keep(file, header.buffers_offset, bytes_ - header.buffers_offset);
  }

  void keep(const OpenFile& file, std::uint64_t offset, std::uint64_t bytes) {
    std::vector<char> part(bytes);
    ASSERT_EQ(file.read(offset, part.data(), bytes), bytes);
    whole_.emplace_back(offset, std::move(part));
  }

  void restore() const {
    std::filesystem::resize_file(ring_, bytes_);
    for (const auto& [offset, part] : whole_) patch(offset, part.data(), part.size());
  }

  void patch(std::uint64_t offset, const void* from, std::size_t bytes) const {
    const int fd = open(ring_.c_str(), O_WRONLY | O_CLOEXEC);
    ASSERT_EQ(pwrite(fd, from, bytes, static_cast<off_t>(offset)), static_cast<ssize_t>(bytes));
    close(fd);
  }

  /// True if something could be recovered.
  bool try_to_recover() {
    const std::string out = root_ + "/out";
    std::filesystem::remove_all(out);
    try {
      const Recovery recovery(open_mapping(folder_));
      describe_threads(recovery, 20);
      write_trace(recovery, out, false);
      return true;
    } catch (const Error& error) {
      EXPECT_STRNE(error.what(), "");
      return false;
    }
  }

  std::string folder_;
  std::string ring_;
  std::uint64_t bytes_ = 0;
  std::vector<std::pair<std::uint64_t, std::vector<char>>> whole_;  ///< Offset, bytes.
};

TEST_F(damaged_mapping, cut_off_anywhere_is_a_sentence_or_less) {
  ASSERT_TRUE(try_to_recover());
  std::mt19937_64 random(20240607);
  std::vector<std::uint64_t> sizes = {0,
                                      1,
                                      7,
                                      8,
                                      11,
                                      12,
                                      16,
                                      sizeof(core::ProcessHeader) - 1,
                                      sizeof(core::ProcessHeader),
                                      4096,
                                      bytes_ - 1};
  for (int turn = 0; turn < 40; ++turn) sizes.push_back(random() % bytes_);
  int recovered = 0;
  for (const std::uint64_t size : sizes) {
    restore();
    std::filesystem::resize_file(ring_, size);
    recovered += try_to_recover() ? 1 : 0;
  }
  EXPECT_LT(recovered, static_cast<int>(sizes.size()));
}

TEST_F(damaged_mapping, random_bytes_anywhere_do_no_harm) {
  std::mt19937_64 random(7);
  core::ProcessHeader header{};
  const OpenFile file(open(ring_.c_str(), O_RDONLY | O_CLOEXEC));
  void* memory = &header;
  ASSERT_EQ(file.read(0, memory, sizeof(header)), sizeof(header));
  // Where a change means something: header, first names, first thread.
  const std::uint64_t regions[][2] = {{8, sizeof(header)},
                                      {header.names_offset, header.names_offset + 64},
                                      {header.buffers_offset, header.buffers_offset + 4096},
                                      {header.buffers_offset, bytes_}};
  const std::uint64_t values[] = {0, 1, UINT32_MAX, UINT64_MAX, std::uint64_t{1} << 63U};
  int recovered = 0;
  for (int turn = 0; turn < 400; ++turn) {
    restore();
    const int changes = 1 + static_cast<int>(random() % 8);
    for (int change = 0; change < changes; ++change) {
      const auto& region = regions[random() % std::size(regions)];
      const std::uint64_t offset = region[0] + random() % (region[1] - region[0] - 8) / 4 * 4;
      const std::uint64_t value =
          random() % 2 == 0 ? values[random() % std::size(values)] : random();
      patch(offset, &value, random() % 2 == 0 ? 4 : 8);
    }
    recovered += try_to_recover() ? 1 : 0;
  }
  EXPECT_GT(recovered, 0);
  EXPECT_LT(recovered, 400);
}

TEST_F(damaged_mapping, hostile_sizes_and_offsets_are_refused) {
  const std::size_t fields[] = {
      offsetof(core::ProcessHeader, names_offset), offsetof(core::ProcessHeader, names_bytes),
      offsetof(core::ProcessHeader, buffers_offset), offsetof(core::ProcessHeader, buffer_bytes),
      offsetof(core::ProcessHeader, slots_per_buffer)};
  for (const std::size_t field : fields) {
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{1} << 20U,
                                      std::uint64_t{1} << 40U, UINT64_MAX}) {
      restore();
      patch(field, &value, sizeof(value));
      const bool is_still_sane =
          field == offsetof(core::ProcessHeader, names_bytes) && value <= 1U << 20U;
      // A later start of the buffers is as possible as a hole in the file.
      if (field == offsetof(core::ProcessHeader, buffers_offset) && value > 1U << 20U) {
        try_to_recover();
      } else {
        EXPECT_EQ(try_to_recover(), is_still_sane) << "field at " << field << " = " << value;
      }
    }
  }
}

TEST_F(damaged_mapping, its_own_trace_may_be_anything) {
  const std::string trace = root_ + "/traces/own";
  std::filesystem::create_directories(trace);
  core::ProcessHeader header{};
  flush::note_trace(header, root_ + "/traces", "own");
  patch(offsetof(core::ProcessHeader, facts), &header.facts, sizeof(header.facts));
  std::mt19937_64 random(11);
  for (int turn = 0; turn < 50; ++turn) {
    std::vector<std::uint64_t> pages(std::size_t{3} * 512 + random() % 512);
    for (std::uint64_t& word : pages) word = random() % 4 == 0 ? random() : 0;
    // A header that is taken for a packet's: magic number and content size.
    pages[0] = 0xC1FC1FC1U;
    pages[6] = (80 + random() % 4017) * 8;
    const int fd =
        open((trace + "/stream-0").c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    ASSERT_GT(write(fd, pages.data(), pages.size() * sizeof(pages[0])), 0);
    close(fd);
    EXPECT_TRUE(try_to_recover());
  }
}

}  // namespace
}  // namespace torchtrace::recovery
