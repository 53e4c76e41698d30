#include "observer/registration.h"

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <atomic>

#include "core/log.h"
#include "observer/callback_mutex.h"

namespace torchtrace::observer {

namespace {

/// How long a fork waits for another thread to leave PyTorch's callback manager: it is in there for
/// microseconds, unless the machine has far more work than cores.
constexpr time_t kForkPatience_s = 1;
/// Between switching the callback on and a fork, where PyTorch's mutex cannot be held across it.
/// Each running thread copies PyTorch's list at its next operator, under the mutex that the child
/// inherits; by then most are done with it.
constexpr timespec kSettleTime{0, 2'000'000};

enum class State { kNone, kOn, kPaused, kRemoved };

struct Callback {
  TorchLibrary const* torch = nullptr;
  RecordFunctionCallback callback{};
  CallbackHandle handle = 0;
  State state = State::kNone;
  std::uint8_t probed_scope = 0;
  bool can_probe = false;
};

pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
Callback g_callback;  // under g_mutex
std::atomic<bool> g_is_closed{false};
std::atomic<bool> g_removal_said{false};

class Lock {
 public:
  Lock() noexcept { pthread_mutex_lock(&g_mutex); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() { pthread_mutex_unlock(&g_mutex); }
};

enum class Finding { kPresent, kAbsent, kUnknown };

/// Asks PyTorch what an operator on this thread would call. Exact, and runs nothing of anyone's,
/// unlike `at::hasGlobalCallbacks`, which says yes for other people's callbacks too.
Finding probe() noexcept {
  const TorchLibrary& torch = *g_callback.torch;
  const StepCallbacks callbacks = torch.get_step_callbacks(g_callback.probed_scope);
  if (!callbacks.agrees(torch.current_thread_id(), g_callback.probed_scope)) {
    return Finding::kUnknown;
  }
  return callbacks.contains(g_callback.callback.start) ? Finding::kPresent : Finding::kAbsent;
}

void add() noexcept {
  g_callback.handle = g_callback.torch->add_global_callback(g_callback.callback);
  g_callback.state = State::kOn;
}

void switch_on() noexcept {
  g_callback.torch->reenable_callback(g_callback.handle);
  g_callback.state = State::kOn;
}

bool is_closed() noexcept { return g_is_closed.load(std::memory_order_acquire); }

}  // namespace

void register_callback(const TorchLibrary& torch, const RecordFunctionCallback& callback) noexcept {
  const Lock lock;
  g_is_closed.store(false);
  g_callback = {};
  g_callback.torch = &torch;
  g_callback.callback = callback;
  const bool* const first = std::find(std::begin(callback.scopes), std::end(callback.scopes), true);
  g_callback.probed_scope = static_cast<std::uint8_t>(first - std::begin(callback.scopes));
  {
    const MutexWitness witness(torch.path);
    add();
  }
  // Nobody can have removed it yet: what does not find it now never will.
  g_callback.can_probe = torch.get_step_callbacks != nullptr &&
                         torch.current_thread_id != nullptr && first != std::end(callback.scopes) &&
                         probe() == Finding::kPresent;
}

bool pause() noexcept {
  const Lock lock;
  if (g_callback.state == State::kPaused) return true;
  if (is_closed() || g_callback.state != State::kOn) return false;
  const TorchLibrary& torch = *g_callback.torch;
  if (torch.disable_callback == nullptr || torch.reenable_callback == nullptr) return false;
  // PyTorch would warn on stderr.
  if (g_callback.can_probe && probe() == Finding::kAbsent) return false;
  torch.disable_callback(g_callback.handle);
  g_callback.state = State::kPaused;
  return true;
}

void resume() noexcept {
  const Lock lock;
  if (!is_closed() && g_callback.state == State::kPaused) switch_on();
}

bool is_registered() noexcept {
  const Lock lock;
  return g_callback.state == State::kOn || g_callback.state == State::kPaused;
}

void look_after_registration(bool reregister) noexcept {
  const Lock lock;
  if (is_closed() || !g_callback.can_probe || g_callback.state != State::kOn) return;
  if (probe() != Finding::kAbsent) return;
  if (reregister) {
    add();
    core::say_once(g_removal_said,
                   "the program removed all of PyTorch's callbacks, ours too: added again");
    return;
  }
  g_callback.state = State::kRemoved;
  core::say_once(
      g_removal_said,
      "the program removed all of PyTorch's callbacks, ours too: no operator is recorded "
      "from now on (observer.reregister = true adds ours again)");
}

void close_registration() noexcept { g_is_closed.store(true, std::memory_order_release); }

bool hold_registration() noexcept {
  timespec limit{};
  clock_gettime(CLOCK_MONOTONIC, &limit);
  limit.tv_sec += kForkPatience_s;
  if (pthread_mutex_clocklock(&g_mutex, CLOCK_MONOTONIC, &limit) != 0) return false;
  if (is_closed() || g_callback.state != State::kPaused) return true;
  switch_on();
  // So that the thread which goes on in the child has its copy, and needs no lock for it.
  if (g_callback.can_probe) probe();
  if (!knows_callback_mutex()) nanosleep(&kSettleTime, nullptr);
  return true;
}

void release_registration() noexcept { pthread_mutex_unlock(&g_mutex); }

void renew_registration() noexcept {
  g_mutex = PTHREAD_MUTEX_INITIALIZER;
  g_is_closed.store(false);
}

}  // namespace torchtrace::observer
