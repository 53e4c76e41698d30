#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/mapping.h"
#include "core/names.h"
#include "core/process.h"
#include "core/thread_registry.h"
#include "flush/post_mortem_notes.h"

namespace torchtrace::recovery {

/// What a traced program does to its mapping, without PyTorch: `start` and `end` like the op path,
/// but for its stores' order, which is not what is tested here.
class Victim {
 public:
  explicit Victim(const std::string& root, core::RingPolicy policy = core::kRingDropNewest) {
    core::Mapping::Options options;
    options.ring_bytes = 64 * sizeof(core::Record) * 16;  // 1024 records
    options.max_buffers = 4;
    options.root = root.c_str();
    process.mapping.create(options);
    process.names.create(process.mapping);
    process.threads.create(process.mapping, policy);
    core::use_counter(false);
    flush::note_anchor(process.mapping.header(), {1000, 1000, 1000, 1000});
    flush::note_anchor(process.mapping.header(), {2000, 2000, 2000, 2000});
    buffer = process.threads.attach(1);
  }

  core::OpenOp& start(const char* name, std::uint64_t t0) {
    core::ThreadHeader& header = buffer->header;
    const std::uint64_t op_id = header.last_op_id.load() + 1;
    header.last_op_id.store(op_id);
    const std::uint32_t depth = header.depth.load();
    core::OpenOp& frame = buffer->frames[depth + 1];
    frame.op_id.store(op_id);
    frame.t0_ticks.store(t0);
    frame.info.store(core::OpInfo::pack(process.names.intern(name, ""), depth, 0));
    frame.parent.store(buffer->frames[depth].op_id.load());
    frame.version.store(static_cast<std::uint32_t>(op_id));
    header.depth.store(depth + 1);
    return frame;
  }

  void push(std::uint64_t t1) {
    const core::ThreadHeader& header = buffer->header;
    const core::OpenOp& frame = buffer->frames[header.depth.load()];
    core::Record& record = buffer->slots()[header.ring.slot()];
    record = {};
    record.t0_ticks = frame.t0_ticks.load();
    record.t1_ticks = t1;
    record.op_id = frame.op_id.load();
    record.parent = frame.parent.load();
    record.sequence_nr = -1;
    record.end_slot = header.slot;
    core::OpInfo::store(frame.info.load(), record);
    buffer->header.ring.publish();
  }

  void end(std::uint64_t t1) {
    push(t1);
    buffer->header.depth.store(buffer->header.depth.load() - 1);
  }

  void run(const char* name, std::uint64_t t0, std::uint64_t t1) {
    start(name, t0);
    end(t1);
  }

  core::Process process;
  core::ThreadBuffer* buffer = nullptr;
};

/// A private stand-in for /dev/shm, and processes that die there.
class RecoveryTest : public testing::Test {
 protected:
  void SetUp() override {
    char path[] = "/tmp/torchtrace-recovery-XXXXXX";
    root_ = mkdtemp(path);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  /// Runs `life` in a child that is then killed; returns the child's pid.
  std::string kill_after(const std::function<void(Victim&)>& life) const {
    const pid_t child = fork();
    if (child == 0) {
      Victim victim(root_);
      life(victim);
      kill(getpid(), SIGKILL);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    return std::to_string(child);
  }

  std::string root_;
};

}  // namespace torchtrace::recovery
