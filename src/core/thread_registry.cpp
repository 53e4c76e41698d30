#include "core/thread_registry.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <initializer_list>

#include "core/mapping.h"
#include "core/populate.h"

namespace torchtrace::core {

__thread ThreadBuffer* t_buffer = nullptr;

namespace {

constexpr std::uint32_t kMaxSlots = 1U << 24U;

/// Value of `g_key` of a thread whose buffer has been taken back: operators in later destructors of
/// the thread are counted only.
void* const kEnded = reinterpret_cast<void*>(1);  // NOLINT(performance-no-int-to-ptr)

pthread_key_t g_key;
pthread_once_t g_key_once = PTHREAD_ONCE_INIT;
bool g_has_key = false;

/// Thread-specific data are destroyed after C++ thread_local objects, so that operators run by
/// their destructors are still recorded.
void on_thread_exit(void* value) {
  if (value != kEnded) {
    auto* buffer = static_cast<ThreadBuffer*>(value);
    t_buffer = nullptr;
    buffer->header.state.store(kBufferClosed, std::memory_order_release);
  }
  pthread_setspecific(g_key, kEnded);
}

void make_key() { g_has_key = pthread_key_create(&g_key, on_thread_exit) == 0; }

void* map_private(std::size_t bytes) noexcept {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

/// Resets everything a former owner of the buffer has left.
void reset(ThreadHeader& header, std::uint32_t slot, std::uint64_t mask) noexcept {
  for (Counter* counter : {&header.abandoned, &header.abandoned_pushed, &header.dropped_ring_full,
                           &header.dropped_too_deep, &header.dropped_no_scope, &header.first_loss,
                           &header.last_loss, &header.ring_reserved, &header.dropped_block_timeout,
                           &header.head, &header.overwritten, &header.filtered}) {
    counter->store(0, std::memory_order_relaxed);
  }
  header.gave_up_at = 0;
  header.last_op_id.store(OpId::make(slot, 0), std::memory_order_relaxed);
  header.depth.store(0, std::memory_order_relaxed);
  header.must_tidy.store(0, std::memory_order_relaxed);
  header.scopes_used.store(0, std::memory_order_relaxed);
  header.ring.reset(mask);
}

void write_identity(ThreadHeader& header, std::uint32_t slot, std::uint64_t torch_thread) noexcept {
  header.slot = slot;
  header.tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
  header.torch_thread = torch_thread;
  prctl(PR_GET_NAME, header.name, 0, 0, 0);
}

}  // namespace

bool ThreadRegistry::create(Mapping& mapping, RingPolicy policy) noexcept {
  pthread_once(&g_key_once, make_key);
  void* memory = map_private(mapping.max_buffers() * sizeof(buffers_[0]));
  if (memory == nullptr || !g_has_key) return false;
  mapping_ = &mapping;
  policy_ = policy;
  buffers_ = static_cast<std::atomic<ThreadBuffer*>*>(memory);
  return true;
}

ThreadBuffer* ThreadRegistry::attach(std::uint64_t torch_thread) noexcept {
  if (pthread_getspecific(g_key) == kEnded) return nullptr;
  ThreadBuffer* buffer = take_free();
  if (buffer == nullptr) buffer = take_new();
  if (buffer == nullptr) return nullptr;
  const std::uint32_t slot = take_slot();
  if (slot == 0 || pthread_setspecific(g_key, buffer) != 0) {
    recycle(*buffer);
    return nullptr;
  }
  reset(buffer->header, slot, mapping_->ring_slots() - 1);
  write_identity(buffer->header, slot, torch_thread);
  buffer->header.ring_policy = policy_;
  buffer->header.state.store(kBufferActive, std::memory_order_release);
  t_buffer = buffer;
  return buffer;
}

std::uint32_t ThreadRegistry::take_slot() noexcept {
  std::uint32_t slot = next_slot_.load(std::memory_order_relaxed);
  do {
    if (slot == kMaxSlots) return 0;
  } while (!next_slot_.compare_exchange_weak(slot, slot + 1, std::memory_order_relaxed));
  return slot;
}

ThreadBuffer* ThreadRegistry::take_free() noexcept {
  if (free_count_.load(std::memory_order_relaxed) == 0) return nullptr;
  for (std::uint32_t index = 0; index < count(); ++index) {
    ThreadBuffer* candidate = buffer(index);
    if (candidate == nullptr) continue;
    std::uint32_t expected = kBufferFree;
    if (candidate->header.state.compare_exchange_strong(expected, kBufferClaimed,
                                                        std::memory_order_acq_rel)) {
      free_count_.fetch_sub(1, std::memory_order_relaxed);
      return candidate;
    }
  }
  return nullptr;
}

ThreadBuffer* ThreadRegistry::take_new() noexcept { return add_buffer(kBufferClaimed); }

ThreadBuffer* ThreadRegistry::add_buffer(BufferState state) noexcept {
  std::uint32_t index = next_buffer_.load(std::memory_order_relaxed);
  do {
    if (index >= mapping_->max_buffers()) return nullptr;
  } while (!next_buffer_.compare_exchange_weak(index, index + 1, std::memory_order_acq_rel));
  ThreadBuffer* made = mapping_->map_buffer(index);
  if (made == nullptr) return nullptr;
  made->header.buffer_index = index;
  // Whoever finds it free may have it at once.
  if (state == kBufferFree) madvise(made, mapping_->header().buffer_bytes, MADV_POPULATE_WRITE);
  made->header.state.store(state, std::memory_order_relaxed);
  mapping_->header().buffer_count.store(count(), std::memory_order_release);
  buffers_[index].store(made, std::memory_order_release);
  return made;
}

void ThreadRegistry::keep_spare(std::uint32_t count) noexcept {
  if (free_count_.load(std::memory_order_relaxed) >= count) return;
  if (add_buffer(kBufferFree) != nullptr) free_count_.fetch_add(1, std::memory_order_relaxed);
}

bool ThreadRegistry::is_exhausted() const noexcept {
  return free_count_.load(std::memory_order_relaxed) == 0 && count() >= mapping_->max_buffers();
}

void ThreadRegistry::recycle(ThreadBuffer& buffer) noexcept {
  buffer.header.state.store(kBufferFree, std::memory_order_release);
  free_count_.fetch_add(1, std::memory_order_relaxed);
}

void ThreadRegistry::forget_this_thread() noexcept {
  t_buffer = nullptr;
  if (g_has_key) pthread_setspecific(g_key, nullptr);
}

}  // namespace torchtrace::core
