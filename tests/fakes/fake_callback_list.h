#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "fakes/fake_torch.h"

namespace torchtrace::fakes {

/// Stands for PyTorch's list of global callbacks, and for what an operator does with it: it runs
/// the callbacks that were in the list and switched on when it began, also at its end.
/// One per process, as PyTorch's. Thread: one.
class FakeCallbackList {
 public:
  using Callback = observer::RecordFunctionCallback;
  using Handle = observer::CallbackHandle;

  static FakeCallbackList& get() {
    static FakeCallbackList list;
    return list;
  }

  /// `fake_torch_library` with this list.
  static observer::TorchLibrary library() {
    observer::TorchLibrary library = fake_torch_library();
    library.add_global_callback = [](Callback callback) { return get().add(callback); };
    library.disable_callback = [](Handle handle) { get().set_enabled(handle, false); };
    library.reenable_callback = [](Handle handle) { get().set_enabled(handle, true); };
    // The same function to its caller: both types are returned through memory.
    library.get_step_callbacks = reinterpret_cast<observer::GetStepCallbacks>(
        reinterpret_cast<void (*)()>(&FakeCallbackList::step_callbacks));
    return library;
  }

  void reset() { *this = {}; }
  /// at::clearGlobalCallbacks
  void clear() { entries_.clear(); }
  Handle add(const Callback& callback) {
    entries_.push_back({callback, ++last_handle_, true});
    return last_handle_;
  }
  std::size_t size() const { return entries_.size(); }
  /// Times that PyTorch would have written "Requested callback is not found" to stderr.
  int warnings() const { return warnings_; }
  /// Start callbacks that operators have run.
  std::uint64_t calls() const { return calls_; }

  /// An operator from its constructor to its destructor.
  class Operator {
   public:
    explicit Operator(const FakeRecordFunction& function)
        : function_(function), callbacks_(get().active()) {
      for (const Callback& callback : callbacks_) {
        contexts_.push_back(callback.start(function_.event()));
      }
      get().calls_ += callbacks_.size();
    }
    Operator(const Operator&) = delete;
    Operator& operator=(const Operator&) = delete;
    ~Operator() {
      for (std::size_t at = 0; at < callbacks_.size(); ++at) {
        callbacks_[at].end(function_.event(), contexts_[at].get());
      }
    }

   private:
    const FakeRecordFunction& function_;
    std::vector<Callback> callbacks_;
    std::vector<std::unique_ptr<observer::ObserverContext>> contexts_;
  };

 private:
  struct Entry {
    Callback callback;
    Handle handle;
    bool is_enabled;
  };

  /// `at::StepCallbacks` with its small vector.
  struct FakeStepCallbacks {
    struct Pair {
      observer::StartCallback start;
      observer::EndCallback end;
    };
    FakeStepCallbacks(const std::vector<Callback>& callbacks, std::uint8_t asked_scope)
        : size(static_cast<std::uint32_t>(callbacks.size())), scope(asked_scope) {
      if (size > capacity) {
        capacity = size;
        begin = static_cast<Pair*>(std::malloc(size * sizeof(Pair)));
      }
      for (std::uint32_t at = 0; at < size; ++at) {
        begin[at] = {callbacks[at].start, callbacks[at].end};
      }
    }
    FakeStepCallbacks(const FakeStepCallbacks&) = delete;
    FakeStepCallbacks& operator=(const FakeStepCallbacks&) = delete;
    ~FakeStepCallbacks() {
      if (begin != inline_pairs) std::free(begin);
    }

    Pair* begin = inline_pairs;
    std::uint32_t size;
    std::uint32_t capacity = 4;
    Pair inline_pairs[4] = {};
    std::uint64_t thread_id = FakeRecordFunction::current_thread_id();
    std::uint8_t scope;
    bool needs[3] = {};
  };
  static_assert(sizeof(FakeStepCallbacks) == 96);

  static FakeStepCallbacks step_callbacks(std::uint8_t scope) {
    return FakeStepCallbacks(get().active(), scope);
  }

  std::vector<Callback> active() const {
    std::vector<Callback> callbacks;
    for (const Entry& entry : entries_) {
      if (entry.is_enabled) callbacks.push_back(entry.callback);
    }
    return callbacks;
  }

  void set_enabled(Handle handle, bool is_enabled) {
    const auto found = std::find_if(entries_.begin(), entries_.end(), [handle](const Entry& entry) {
      return entry.handle == handle;
    });
    if (found == entries_.end()) {
      ++warnings_;
    } else {
      found->is_enabled = is_enabled;
    }
  }

  std::vector<Entry> entries_;
  Handle last_handle_ = 0;
  int warnings_ = 0;
  std::uint64_t calls_ = 0;
};

}  // namespace torchtrace::fakes
