#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "core/leftovers.h"
#include "core/mapping.h"
#include "core/names.h"
#include "core/process_stat.h"
#include "core/thread_registry.h"

namespace torchtrace::core {
namespace {

/// A private stand-in for /dev/shm.
class mapping : public testing::Test {
 protected:
  void SetUp() override {
    char path[] = "/tmp/torchtrace-mapping-XXXXXX";
    root_ = mkdtemp(path);
    options_.ring_bytes = 64U << 10U;
    options_.max_buffers = 4;
    options_.root = root_.c_str();
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  static mode_t mode_of(const std::string& path) {
    struct stat info {};
    return stat(path.c_str(), &info) == 0 ? info.st_mode & 0777U : 0;
  }

  std::string root_;
  Mapping::Options options_;
};

TEST_F(mapping, is_a_private_file_that_is_removed) {
  Mapping shared;
  ASSERT_TRUE(shared.create(options_));
  ASSERT_TRUE(shared.is_recoverable()) << shared.why_not();
  const std::string folder = shared.folder();
  EXPECT_EQ(folder, root_ + "/torchtrace-" + std::to_string(geteuid()) + "/" +
                        std::to_string(getpid()) + "-" +
                        std::to_string(process_start_time(getpid())));
  EXPECT_EQ(mode_of(folder), 0700U);
  EXPECT_EQ(mode_of(folder + "/ring"), 0600U);
  std::ifstream file(folder + "/ring");
  std::string magic(8, '\0');
  file.read(magic.data(), 8);
  EXPECT_EQ(magic, "TTRACEM1");
  shared.remove();
  EXPECT_NE(access(folder.c_str(), F_OK), 0);
}

TEST_F(mapping, a_program_after_exec_has_its_own) {
  Mapping before;
  Mapping after;  // same pid, same start time
  ASSERT_TRUE(before.create(options_));
  ASSERT_TRUE(after.create(options_));
  EXPECT_TRUE(after.is_recoverable());
  EXPECT_EQ(std::string(after.folder()), std::string(before.folder()) + "-2");
}

TEST_F(mapping, is_locked_while_its_process_lives) {
  Mapping shared;
  ASSERT_TRUE(shared.create(options_));
  const std::string path = std::string(shared.folder()) + "/ring";
  FILE* other = std::fopen(path.c_str(), "r");
  ASSERT_NE(other, nullptr);
  EXPECT_NE(flock(fileno(other), LOCK_EX | LOCK_NB), 0);
  shared.release_lock();
  EXPECT_EQ(flock(fileno(other), LOCK_EX | LOCK_NB), 0);
  std::fclose(other);
}

TEST_F(mapping, falls_back_to_memory_where_there_is_no_folder) {
  options_.root = "/proc/no-such-folder";
  Mapping memory;
  ASSERT_TRUE(memory.create(options_));
  EXPECT_FALSE(memory.is_recoverable());
  EXPECT_STRNE(memory.why_not(), "");
  EXPECT_NE(memory.map_buffer(0), nullptr);
  EXPECT_NE(memory.append_name(64), nullptr);
}

TEST_F(mapping, does_not_use_a_folder_that_others_can_enter) {
  const std::string folder = root_ + "/torchtrace-" + std::to_string(geteuid());
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
  Mapping shared;
  ASSERT_TRUE(shared.create(options_));
  EXPECT_FALSE(shared.is_recoverable());
}

TEST_F(mapping, does_not_follow_a_link) {
  const std::string target = root_ + "/elsewhere";
  ASSERT_EQ(mkdir(target.c_str(), 0700), 0);
  const std::string folder = root_ + "/torchtrace-" + std::to_string(geteuid());
  ASSERT_EQ(symlink(target.c_str(), folder.c_str()), 0);
  Mapping shared;
  ASSERT_TRUE(shared.create(options_));
  EXPECT_FALSE(shared.is_recoverable());
}

TEST_F(mapping, grows_by_its_name_though_the_host_closed_its_descriptor) {
  Mapping shared;
  ASSERT_TRUE(shared.create(options_));
  for (int fd = 3; fd < 256; ++fd) close(fd);
  ThreadBuffer* buffer = shared.map_buffer(0);
  ASSERT_NE(buffer, nullptr);
  buffer->slots()[shared.ring_slots() - 1].op_id = 7;
  struct stat info {};
  ASSERT_EQ(stat((std::string(shared.folder()) + "/ring").c_str(), &info), 0);
  EXPECT_GE(static_cast<std::uint64_t>(info.st_size),
            shared.header().buffers_offset + shared.header().buffer_bytes);
  shared.remove();
  // Not a file of somebody else; memory instead.
  EXPECT_NE(shared.map_buffer(1), nullptr);
  EXPECT_NE(access((std::string(shared.folder()) + "/ring").c_str(), F_OK), 0);
}

/// Runs `body` in a child and waits for it.
template <class Body>
void in_child(Body&& body) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    body();
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
}

TEST_F(mapping, keeps_only_the_newest_leftovers) {
  Mapping mine;
  ASSERT_TRUE(mine.create(options_));
  for (int killed = 0; killed < 6; ++killed) {
    in_child([&] {
      Mapping theirs;
      theirs.create(options_);
    });
  }
  EXPECT_EQ(find_leftovers(root_.c_str()).size(), 6U);  // and not mine
  trim_leftovers(root_.c_str());
  const auto left = find_leftovers(root_.c_str());
  ASSERT_EQ(left.size(), 4U);
  EXPECT_TRUE(remove_leftover(root_.c_str(), left[0].name));
  EXPECT_EQ(find_leftovers(root_.c_str()).size(), 3U);
  EXPECT_EQ(access((std::string(mine.folder()) + "/ring").c_str(), F_OK), 0);
}

TEST_F(mapping, a_forked_child_does_not_keep_its_parent_alive) {
  int ready[2];
  int leave[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(leave), 0);
  in_child([&] {
    Mapping theirs;
    theirs.create(options_);
    if (fork() != 0) {
      char byte = 0;
      static_cast<void>(!read(ready[0], &byte, 1));
      return;  // killed
    }
    theirs.release_lock();
    static_cast<void>(!write(ready[1], "r", 1));
    char byte = 0;
    static_cast<void>(!read(leave[0], &byte, 1));
    _exit(0);
  });
  EXPECT_EQ(find_leftovers(root_.c_str()).size(), 1U);
  static_cast<void>(!write(leave[1], "l", 1));
}

TEST_F(mapping, interns_names_once_across_threads) {
  Mapping shared;
  NameTable names;
  ASSERT_TRUE(shared.create(options_));
  ASSERT_TRUE(names.create(shared));
  constexpr int kThreads = 4;
  constexpr int kNames = 2000;
  std::vector<std::vector<std::uint32_t>> ids(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int name = 0; name < kNames; ++name) {
        ids[thread].push_back(names.intern("aten::op" + std::to_string(name), "Tensor"));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int thread = 1; thread < kThreads; ++thread) EXPECT_EQ(ids[thread], ids[0]);
  EXPECT_EQ(names.text(ids[0][1999]), "aten::op1999.Tensor");
}

TEST_F(mapping, tells_names_apart_and_never_returns_an_empty_one) {
  Mapping shared;
  NameTable names;
  ASSERT_TRUE(shared.create(options_));
  ASSERT_TRUE(names.create(shared));
  EXPECT_NE(names.intern("a.b", ""), names.intern("a", "c"));
  EXPECT_EQ(names.intern("a.b", ""), names.intern("a", "b"));  // the same text
  EXPECT_FALSE(names.text(names.intern("", "")).empty());
  EXPECT_FALSE(names.text(NameTable::kOverflowId).empty());
  const std::string endless(100'000, 'x');
  EXPECT_EQ(names.text(names.intern(endless, "")).size(), NameTable::kMaxNameBytes);
}

TEST_F(mapping, counts_names_beyond_its_bounds) {
  Mapping shared;
  NameTable names;
  ASSERT_TRUE(shared.create(options_));
  ASSERT_TRUE(names.create(shared));
  std::uint32_t id = 1;
  std::uint32_t added = 0;
  for (; id != NameTable::kOverflowId && added < 2 * NameTable::kNameSlots; ++added) {
    id = names.intern("step " + std::to_string(added), "");
  }
  EXPECT_EQ(id, NameTable::kOverflowId);
  EXPECT_EQ(added - 1, NameTable::kNameSlots / 4 * 3);
  EXPECT_NE(names.intern("step 0", ""), NameTable::kOverflowId);
}

TEST_F(mapping, recycles_the_buffers_of_threads_that_have_ended) {
  Mapping shared;
  ThreadRegistry registry;
  ASSERT_TRUE(shared.create(options_));
  ASSERT_TRUE(registry.create(shared));
  std::vector<std::uint32_t> slots;
  for (int thread = 0; thread < 100; ++thread) {
    std::thread([&] {
      ThreadBuffer* buffer = registry.attach(7);
      ASSERT_NE(buffer, nullptr);
      EXPECT_EQ(t_buffer, buffer);
      EXPECT_EQ(buffer->header.tid, static_cast<std::uint32_t>(gettid()));
      slots.push_back(buffer->header.slot);
    }).join();
    ThreadBuffer* buffer = registry.buffer(registry.count() - 1);
    ASSERT_EQ(buffer->header.state.load(), kBufferClosed);
    registry.recycle(*buffer);
  }
  EXPECT_EQ(registry.count(), 1U);
  for (std::size_t at = 0; at < slots.size(); ++at) EXPECT_EQ(slots[at], at + 1);
}

TEST_F(mapping, refuses_threads_beyond_its_cap) {
  Mapping shared;
  ThreadRegistry registry;
  ASSERT_TRUE(shared.create(options_));
  ASSERT_TRUE(registry.create(shared));
  std::vector<ThreadBuffer*> buffers;
  for (int thread = 0; thread < 6; ++thread) {
    std::thread([&] { buffers.push_back(registry.attach(0)); }).join();
  }
  for (int at = 0; at < 4; ++at) EXPECT_NE(buffers[at], nullptr);
  EXPECT_EQ(buffers[4], nullptr);
  EXPECT_EQ(buffers[5], nullptr);
}

}  // namespace
}  // namespace torchtrace::core
