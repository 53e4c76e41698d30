#pragma once

#include <cstdint>
#include <deque>
#include <new>
#include <string>

#include "observer/torch_library.h"

/// Objects laid out like PyTorch's, by hand and by field, so that the callbacks can be driven
/// without libtorch. The layout is that of PyTorch 2.13 with the cxx11 ABI (observer/torch_abi.h).
namespace torchtrace::fakes {

/// Begins like `c10::FunctionSchema`: {std::string name, std::string overload_name}.
struct FakeSchema {
  std::string name;
  std::string overload;
};
static_assert(sizeof(std::string) == 32);

/// Stands for an `at::RecordFunction` of 344 bytes.
class FakeRecordFunction {
 public:
  using Offsets = observer::Offsets<observer::StringAbi::kCxx11>;

  FakeRecordFunction(const FakeSchema& schema, core::Scope scope) : FakeRecordFunction(scope) {
    put(observer::kFunctionOffset, &schema);
    put(Offsets::kFunctionIndex, observer::kFunctionIsSchema);
  }

  /// Named by a string of its own.
  FakeRecordFunction(const std::string& name, core::Scope scope) : FakeRecordFunction(scope) {
    new (bytes_ + observer::kFunctionOffset) std::string(name);
    owns_string_ = true;
  }

  FakeRecordFunction(const FakeRecordFunction&) = delete;
  FakeRecordFunction& operator=(const FakeRecordFunction&) = delete;
  ~FakeRecordFunction() {
    using std::string;
    if (owns_string_) string_at(observer::kFunctionOffset)->~string();
  }

  const observer::RecordFunction& event() const {
    return *reinterpret_cast<const observer::RecordFunction*>(bytes_);
  }

  template <class T>
  void put(std::size_t offset, T value) {
    new (bytes_ + offset) T(value);
  }

  /// What `RecordFunction::name()` and `overload_name()` return.
  static const char* name(const observer::RecordFunction* event);
  static const char* overload_name(const observer::RecordFunction* event);
  static std::uint64_t current_thread_id() { return 1; }

 private:
  explicit FakeRecordFunction(core::Scope scope) {
    put(observer::kThreadIdOffset, std::uint64_t{1});
    put(observer::kScopeOffset, static_cast<std::uint8_t>(scope));
    put(Offsets::kSequenceNumber, std::int64_t{-1});
    // An empty unordered_map: points to the bucket inside itself, of which there is one.
    put(Offsets::kKeywordInputs, bytes_ + Offsets::kKeywordInputs + 48);
    put(Offsets::kKeywordInputs + 8, std::uint64_t{1});
  }

  std::string* string_at(std::size_t offset) {
    return reinterpret_cast<std::string*>(bytes_ + offset);
  }

  alignas(16) char bytes_[344] = {};
  bool owns_string_ = false;
};

inline const char* FakeRecordFunction::name(const observer::RecordFunction* event) {
  const char* function = reinterpret_cast<const char*>(event) + observer::kFunctionOffset;
  const bool is_schema = observer::read_at<std::uint8_t>(event, Offsets::kFunctionIndex) ==
                         observer::kFunctionIsSchema;
  const void* string = is_schema ? observer::read_at<const void*>(function, 0) : function;
  return static_cast<const std::string*>(string)->c_str();
}

inline const char* FakeRecordFunction::overload_name(const observer::RecordFunction* event) {
  const auto* schema = observer::read_at<const FakeSchema*>(event, observer::kFunctionOffset);
  return schema->overload.c_str();
}

inline observer::TorchLibrary fake_torch_library() {
  observer::TorchLibrary library{};
  library.string_abi = observer::StringAbi::kCxx11;
  library.add_global_callback = [](observer::RecordFunctionCallback) { return std::uint64_t{1}; };
  library.name = FakeRecordFunction::name;
  library.overload_name = FakeRecordFunction::overload_name;
  library.current_thread_id = FakeRecordFunction::current_thread_id;
  return library;
}

}  // namespace torchtrace::fakes
