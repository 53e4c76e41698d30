#pragma once

#include <cstddef>
#include <cstdint>
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

/// `at::addGlobalCallback`: returns a handle, which is not needed: the callbacks stay.
using AddGlobalCallback = std::uint64_t (*)(RecordFunctionCallback);
/// `at::RecordFunction::name`, `overload_name`: member functions, so `this` is the one argument.
using GetName = const char* (*)(const RecordFunction*);
/// `at::RecordFunction::currentThreadId`
using GetCurrentThread = std::uint64_t (*)();

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
