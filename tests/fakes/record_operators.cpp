// record_operators CASE: starts and ends an operator 100,000 times through the callbacks that
// PyTorch would call, with instructions collected by callgrind around that loop alone. The case
// "nothing" has empty callbacks: what the loop itself takes.
//
// record_operators --build: how this program was compiled.
// Driven by tools/ci/count_instructions.
#include <valgrind/callgrind.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "core/clock.h"
#include "core/process.h"
#include "fakes/fake_torch.h"
#include "observer/layout_check.h"
#include "observer/observer.h"
#include "observer/op_callbacks.h"

namespace torchtrace::fakes {
namespace {

using core::Scope;
using observer::OpCallbacks;

constexpr int kCalls = 100'000;
/// Room for all of them: nothing drains the ring.
constexpr std::uint64_t kRingBytes = std::uint64_t{16} << 20U;
static_assert(kRingBytes / sizeof(core::Record) > kCalls);

const filters::NameFilter kAllNames;

std::unique_ptr<observer::ObserverContext> start_nothing(const observer::RecordFunction&) {
  return nullptr;
}
void end_nothing(const observer::RecordFunction&, observer::ObserverContext*) {}

core::Process* make_process() noexcept try {
  auto* process = new core::Process;
  core::Mapping::Options options;
  options.ring_bytes = kRingBytes;
  options.max_buffers = 1;
  if (!process->mapping.create(options) || !process->names.create(process->mapping) ||
      !process->threads.create(process->mapping)) {
    return nullptr;
  }
  core::g_process.store(process);
  return process;
} catch (const std::bad_alloc&) {
  return nullptr;
}

OpCallbacks start_observer() {
  core::use_counter(true);
  core::g_activate = make_process;
  std::array<bool, core::kScopeCount> scopes{};
  scopes.fill(true);
  observer::start(fake_torch_library(), scopes, kAllNames);
  return observer::op_callbacks(observer::StringAbi::kCxx11);
}

void call(const OpCallbacks& callbacks, const observer::RecordFunction& event) {
  const std::unique_ptr<observer::ObserverContext> context = callbacks.start(event);
  callbacks.end(event, context.get());
}

/// The first events of a process are checked one by one, and a name is new once.
void warm_up(const OpCallbacks& callbacks, const observer::RecordFunction& event) {
  for (std::uint32_t i = 0; i < 2 * observer::kEventsToVerify; ++i) call(callbacks, event);
}

__attribute__((noinline)) void collect(const OpCallbacks& callbacks,
                                       const observer::RecordFunction& event) {
  CALLGRIND_TOGGLE_COLLECT;
  for (int i = 0; i < kCalls; ++i) call(callbacks, event);
  CALLGRIND_TOGGLE_COLLECT;
}

/// False: no such case.
bool run(const char* name) {
  const FakeSchema schema{"aten::add_", "Tensor"};
  const FakeRecordFunction function(schema, Scope::kFunction);
  const FakeRecordFunction outer(schema, Scope::kFunction);
  const FakeRecordFunction backward(std::string("AddBackward0"), Scope::kBackwardFunction);
  const FakeRecordFunction scope(std::string("forward"), Scope::kUserScope);
  const OpCallbacks callbacks = start_observer();
  const std::string chosen = name;
  if (chosen == "nothing") return collect({start_nothing, end_nothing}, function.event()), true;
  warm_up(callbacks, function.event());
  if (chosen == "function") return collect(callbacks, function.event()), true;
  if (chosen == "backward") {
    warm_up(callbacks, backward.event());
    return collect(callbacks, backward.event()), true;
  }
  if (chosen == "user_scope") {
    warm_up(callbacks, scope.event());
    return collect(callbacks, scope.event()), true;
  }
  if (chosen != "nested") return false;
  const auto context = callbacks.start(outer.event());
  collect(callbacks, function.event());
  callbacks.end(outer.event(), context.get());
  return true;
}

void remove_mapping() {
  core::Process* process = core::g_process.load();
  if (process != nullptr) process->mapping.remove();
}

/// All recorded, or what was counted is the way of the dropped.
bool all_recorded() {
  const core::ThreadBuffer* buffer = core::t_buffer;
  return buffer == nullptr || buffer->header.ring.tail.load() == buffer->header.started();
}

}  // namespace
}  // namespace torchtrace::fakes

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--build") == 0) {
    std::puts(TORCHTRACE_BUILD);
    return 0;
  }
  if (argc != 2 || !torchtrace::fakes::run(argv[1])) {
    std::fputs("usage: record_operators nothing|function|nested|backward|user_scope|--build\n",
               stderr);
    return 2;
  }
  if (!torchtrace::fakes::all_recorded()) {
    std::fputs("record_operators: not every operator was recorded\n", stderr);
    return 1;
  }
  torchtrace::fakes::remove_mapping();
  return 0;
}
