#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "core/record.h"

/// The part of PyTorch's binary interface that the observer relies on, declared here so that the
/// agent needs no PyTorch header and no link to libtorch.
///
/// Source: ATen/record_function.h of PyTorch 1.13.1 to 2.15.0, x86-64, both std::string ABIs.
/// Compiled against a real header in torch_layout_check.cpp, and checked again on the first events
/// of each process in layout_check.h, since one binary meets many versions.
namespace torchtrace::observer {

/// Opaque: only its address and the offsets below are used.
class RecordFunction;

/// Layout-compatible with `at::ObserverContext`: nothing but a virtual destructor.
struct ObserverContext {
  ObserverContext() = default;
  ObserverContext(const ObserverContext&) = delete;
  ObserverContext& operator=(const ObserverContext&) = delete;
  virtual ~ObserverContext() = default;
};

using StartCallback = std::unique_ptr<ObserverContext> (*)(const RecordFunction&);
using EndCallback = void (*)(const RecordFunction&, ObserverContext*);

/// Layout-compatible with `at::RecordFunctionCallback`, which is passed by value.
struct RecordFunctionCallback {
  StartCallback start;
  EndCallback end;
  double sampling_probability;
  bool scopes[core::kScopeCount];
  bool needs_inputs;
  bool needs_outputs;
  bool needs_ids;
};
static_assert(sizeof(RecordFunctionCallback) == 40);

/// Names a callback in PyTorch's list. `at::INVALID_CALLBACK_HANDLE` is 0.
using CallbackHandle = std::uint64_t;
/// `at::addGlobalCallback`
using AddGlobalCallback = CallbackHandle (*)(RecordFunctionCallback);
/// `at::disableCallback`, `at::reenableCallback`: for a handle that is not in the list (any more)
/// PyTorch writes a warning to stderr.
using SwitchCallback = void (*)(CallbackHandle);
/// `at::RecordFunction::name`, `overload_name`: member functions, so `this` is the one argument.
using GetName = const char* (*)(const RecordFunction*);
/// `at::RecordFunction::currentThreadId`
using GetCurrentThread = std::uint64_t (*)();

/// The callbacks that an operator of one scope would run on one thread now: layout-compatible with
/// `at::StepCallbacks`, which begins with a c10::SmallVector<{start, end}, 4>.
class StepCallbacks {
 public:
  StepCallbacks(const StepCallbacks&) = delete;
  StepCallbacks& operator=(const StepCallbacks&) = delete;
  /// As ~SmallVector: what no longer fits into the object itself is malloc's.
  ~StepCallbacks() {
    if (begin_ != inline_ && is_plausible()) std::free(begin_);
  }

  /// True if the object is what we take it for: the asked thread and scope stand at their places
  /// behind the vector, and the vector is one.
  bool agrees(std::uint64_t thread_id, std::uint8_t scope) const noexcept {
    return is_plausible() && thread_id_ == thread_id && scope_ == scope;
  }

  bool contains(StartCallback start) const noexcept {
    for (std::uint32_t at = 0; at < size_; ++at) {
      if (begin_[at].start == start) return true;
    }
    return false;
  }

 private:
  friend struct StepCallbacksLayout;
  struct Pair {
    StartCallback start;
    EndCallback end;
  };
  static constexpr std::uint32_t kInline = 4;

  /// PyTorch constructs it; we only read it.
  StepCallbacks() = default;
  bool is_plausible() const noexcept {
    return size_ <= capacity_ && (begin_ == inline_) == (capacity_ == kInline);
  }

  Pair* begin_;
  std::uint32_t size_;
  std::uint32_t capacity_;
  Pair inline_[kInline];
  std::uint64_t thread_id_;
  std::uint8_t scope_;
  bool needs_inputs_outputs_ids_[3];
  unsigned char room_for_growth_[160];  ///< A later PyTorch's may have more members.
};
/// `at::getStepCallbacks`, whose argument is an `at::RecordScope`.
using GetStepCallbacks = StepCallbacks (*)(std::uint8_t scope);

enum class StringAbi : std::uint8_t { kCxx11, kOld };

/// Offsets within `at::RecordFunction` that are the same everywhere.
inline constexpr std::size_t kThreadIdOffset = 88;
inline constexpr std::size_t kScopeOffset = 96;
/// std::variant<std::string, reference_wrapper<FunctionSchema>>: a string, or the schema's address.
inline constexpr std::size_t kFunctionOffset = 160;
inline constexpr std::uint8_t kFunctionIsSchema = 1;

/// Offsets that follow from the size of the string in that variant.
template <StringAbi abi>
struct Offsets {
  static constexpr std::size_t kShift = abi == StringAbi::kCxx11 ? 0 : 24;
  static constexpr std::size_t kFunctionIndex = 192 - kShift;
  static constexpr std::size_t kSequenceNumber = 200 - kShift;
  /// 2.4 and later put an unordered_map there, `kwinputs_`; before, it is the empty `outputs_`
  /// vector.
  static constexpr std::size_t kKeywordInputs = 224 - kShift;
  static constexpr std::size_t kForwardThreadWithKeywordInputs = 304 - kShift;
  static constexpr std::size_t kForwardThreadWithout = 248 - kShift;
  /// `c10::OperatorName` begins a schema: {std::string name, std::string overload_name}.
  static constexpr std::size_t kOverloadInSchema = abi == StringAbi::kCxx11 ? 32 : 8;
};

template <class T>
T read_at(const void* object, std::size_t offset) noexcept {
  return *reinterpret_cast<const T*>(static_cast<const char*>(object) + offset);
}

/// Views a `std::string` of the given ABI.
/// Source: libstdc++ bits/basic_string.h {pointer, length, ...} and bits/cow_string.h, whose length
/// stands three words before the characters.
template <StringAbi abi>
std::string_view view_string(const void* string) noexcept {
  const auto* text = read_at<const char*>(string, 0);
  if constexpr (abi == StringAbi::kCxx11) return {text, read_at<std::size_t>(string, 8)};
  return {text, read_at<std::size_t>(text - 24, 0)};
}

}  // namespace torchtrace::observer
