#include <string_view>

#include "observer/op_path.h"

/// Training steps, as far as the flight recorder wants to know of slow ones.
namespace torchtrace::observer {

namespace {

using StepEnd = ThreadData::StepEnd;

/// Names that PyTorch gives to steps: torch/optim/optimizer.py (profile_hook_step) and
/// torch/profiler/profiler.py of PyTorch 1.13 to 2.13.
constexpr std::string_view kOptimizerStep = "Optimizer.step#";
constexpr std::string_view kProfilerStep = "ProfilerStep";

bool begins_with(std::string_view text, std::string_view beginning) noexcept {
  return text.substr(0, beginning.size()) == beginning;
}

/// Time since the same step last ended on this thread; 0 if this is the first.
std::uint64_t move_on(StepEnd& last, std::uint32_t slot, std::uint32_t name_id,
                      std::uint64_t t1_ticks) noexcept {
  // With several optimizers, steps are counted by the one that was first.
  if (last.slot == slot && last.name_id != name_id) return 0;
  const std::uint64_t before = last.slot == slot ? last.ticks : t1_ticks;
  last = {t1_ticks, slot, name_id};
  return t1_ticks - before;
}

}  // namespace

void note_step_end(core::ThreadBuffer& buffer, std::uint32_t name_id,
                   std::uint64_t t1_ticks) noexcept {
  core::Process* process = core::g_process.load(std::memory_order_relaxed);
  const std::string_view name = process->names.text(name_id);
  ThreadData& data = ThreadData::of(buffer.header);
  const std::uint32_t slot = buffer.header.slot;
  std::uint64_t taken_ticks = 0;
  if (begins_with(name, kOptimizerStep)) {
    taken_ticks = move_on(data.optimizer_step, slot, name_id, t1_ticks);
  } else if (begins_with(name, kProfilerStep)) {
    taken_ticks = move_on(data.profiler_step, slot, 0, t1_ticks);
  }
  if (taken_ticks > core::g_slow_step_ticks.load(std::memory_order_relaxed)) {
    process->consumer.wake(core::kWakeSlowStep);
  }
}

}  // namespace torchtrace::observer
