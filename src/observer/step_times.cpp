#include <algorithm>
#include <iterator>
#include <optional>
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

/// What a step is timed by: each optimizer by its name, since one may step at every iteration and
/// another at each tenth; 0 for the profiler's, whose names are all different; nothing for others.
std::optional<std::uint32_t> kind_of_step(std::string_view name, std::uint32_t name_id) noexcept {
  if (begins_with(name, kOptimizerStep)) return name_id;
  if (begins_with(name, kProfilerStep)) return 0;
  return std::nullopt;
}

/// Where the end of the step's kind before is kept, for thread `slot`. Of too many kinds, the one
/// that ended longest ago, or was another thread's, gives way.
StepEnd& place_of(ThreadData& data, std::uint32_t slot, std::uint32_t kind) noexcept {
  const auto same = [&](const StepEnd& end) { return end.slot == slot && end.name_id == kind; };
  StepEnd* const known = std::find_if(std::begin(data.step_ends), std::end(data.step_ends), same);
  if (known != std::end(data.step_ends)) return *known;
  const auto age = [&](const StepEnd& end) { return end.slot == slot ? end.ticks : 0; };
  return *std::min_element(
      std::begin(data.step_ends), std::end(data.step_ends),
      [&](const StepEnd& left, const StepEnd& right) { return age(left) < age(right); });
}

/// Time since the last step of that kind on this thread; 0 if this is the first.
std::uint64_t move_on(StepEnd& last, const StepEnd& now) noexcept {
  const bool is_first = last.slot != now.slot || last.name_id != now.name_id;
  const std::uint64_t before = is_first ? now.ticks : last.ticks;
  last = now;
  // The clock was changed in between (core::give_up_counter).
  if (((now.ticks ^ before) & core::kFallbackTick) != 0) return 0;
  return now.ticks - before;
}

}  // namespace

void note_step_end(core::ThreadBuffer& buffer, std::uint32_t name_id,
                   std::uint64_t t1_ticks) noexcept {
  core::Process* process = core::g_process.load(std::memory_order_relaxed);
  const std::string_view name = process->names.text(name_id);
  const std::optional<std::uint32_t> kind = kind_of_step(name, name_id);
  if (!kind) return;
  const std::uint32_t slot = buffer.header.slot;
  StepEnd& last = place_of(ThreadData::of(buffer.header), slot, *kind);
  const std::uint64_t taken_ticks = move_on(last, {t1_ticks, slot, *kind});
  if (taken_ticks > core::g_slow_step_ticks.load(std::memory_order_relaxed)) {
    process->consumer.wake(core::kWakeSlowStep);
  }
}

}  // namespace torchtrace::observer
