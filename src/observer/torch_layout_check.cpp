/// Compiled against a real PyTorch header and never linked: fails the build where the layout in
/// torch_abi.h is not that header's. Not linked, because gcc at -O0 leaves undefined c10 symbols in
/// any object that includes this header, and a preloaded library with those kills every process.
///
/// The members are private and the types are not standard layout. Access is not checked in the
/// arguments of an explicit instantiation (C++17 [temp.spec]/6), and offsetof is conditionally
/// supported there; gcc and clang both do it right.
#include <ATen/record_function.h>
#include <torch/version.h>

#include <cstddef>

#include "observer/torch_abi.h"

#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace torchtrace::observer {
namespace {

#if _GLIBCXX_USE_CXX11_ABI
using Expected = Offsets<StringAbi::kCxx11>;
#else
using Expected = Offsets<StringAbi::kOld>;
#endif

constexpr bool kHasKeywordInputs = TORCH_VERSION_MAJOR > 2 ||
                                   (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4);
constexpr std::size_t kForwardThread =
    kHasKeywordInputs ? Expected::kForwardThreadWithKeywordInputs : Expected::kForwardThreadWithout;

template <std::size_t actual, std::size_t expected>
struct SameOffset {
  static_assert(actual == expected);
};

template struct SameOffset<offsetof(at::RecordFunctionCallback, start_),
                           offsetof(RecordFunctionCallback, start)>;
template struct SameOffset<offsetof(at::RecordFunctionCallback, end_),
                           offsetof(RecordFunctionCallback, end)>;
template struct SameOffset<offsetof(at::RecordFunctionCallback, sampling_prob_),
                           offsetof(RecordFunctionCallback, sampling_probability)>;
template struct SameOffset<offsetof(at::RecordFunctionCallback, scopes_),
                           offsetof(RecordFunctionCallback, scopes)>;
template struct SameOffset<offsetof(at::RecordFunctionCallback, needs_inputs_),
                           offsetof(RecordFunctionCallback, needs_inputs)>;
template struct SameOffset<offsetof(at::RecordFunctionCallback, needs_outputs_),
                           offsetof(RecordFunctionCallback, needs_outputs)>;
template struct SameOffset<offsetof(at::RecordFunctionCallback, needs_ids_),
                           offsetof(RecordFunctionCallback, needs_ids)>;
template struct SameOffset<sizeof(at::RecordFunctionCallback), sizeof(RecordFunctionCallback)>;

template struct SameOffset<offsetof(at::RecordFunction, step_callbacks_) +
                               offsetof(at::StepCallbacks, thread_id_),
                           kThreadIdOffset>;
template struct SameOffset<offsetof(at::RecordFunction, step_callbacks_) +
                               offsetof(at::StepCallbacks, scope_),
                           kScopeOffset>;
template struct SameOffset<offsetof(at::RecordFunction, fn_), kFunctionOffset>;
template struct SameOffset<offsetof(at::RecordFunction, sequence_nr_), Expected::kSequenceNumber>;
template struct SameOffset<offsetof(at::RecordFunction, fwd_thread_id_), kForwardThread>;

}  // namespace

/// What `StepCallbacks` takes at::StepCallbacks and the vector in it for.
struct StepCallbacksLayout {
  using Vector = at::StepCallbacks::StartEndPairs;
  using VectorBase = c10::SmallVectorBase<std::uint32_t>;
  static_assert(sizeof(Vector) == offsetof(StepCallbacks, thread_id_));
  static_assert(sizeof(StepCallbacks::Pair) == sizeof(at::StepCallbacks::StartEndPair));
  static_assert(sizeof(VectorBase) == offsetof(StepCallbacks, inline_));
  static_assert(sizeof(at::StepCallbacks) <= offsetof(StepCallbacks, room_for_growth_) + 4);
  static constexpr std::size_t kThread = offsetof(StepCallbacks, thread_id_);
  static constexpr std::size_t kScope = offsetof(StepCallbacks, scope_);
  static constexpr std::size_t kBegin = offsetof(StepCallbacks, begin_);
  static constexpr std::size_t kSize = offsetof(StepCallbacks, size_);
  static constexpr std::size_t kCapacity = offsetof(StepCallbacks, capacity_);
};

namespace {

/// An explicit instantiation may stand only once: each row has its number.
template <int row, std::size_t actual, std::size_t expected>
struct SameMember : SameOffset<actual, expected> {};

using Layout = StepCallbacksLayout;
template struct SameMember<0, offsetof(at::StepCallbacks, callbacks_), Layout::kBegin>;
template struct SameMember<1, offsetof(at::StepCallbacks, thread_id_), Layout::kThread>;
template struct SameMember<2, offsetof(at::StepCallbacks, scope_), Layout::kScope>;
template struct SameMember<3, offsetof(Layout::VectorBase, BeginX), Layout::kBegin>;
template struct SameMember<4, offsetof(Layout::VectorBase, Size), Layout::kSize>;
template struct SameMember<5, offsetof(Layout::VectorBase, Capacity), Layout::kCapacity>;

static_assert(sizeof(at::ObserverContext) == sizeof(ObserverContext));
static_assert(static_cast<std::size_t>(at::RecordScope::NUM_SCOPES) == core::kScopeCount);

constexpr bool same(at::RecordScope theirs, core::Scope ours) {
  return static_cast<int>(theirs) == static_cast<int>(ours);
}
static_assert(same(at::RecordScope::FUNCTION, core::Scope::kFunction));
static_assert(same(at::RecordScope::BACKWARD_FUNCTION, core::Scope::kBackwardFunction));
static_assert(same(at::RecordScope::TORCHSCRIPT_FUNCTION, core::Scope::kTorchscriptFunction));
static_assert(same(at::RecordScope::KERNEL_FUNCTION_DTYPE, core::Scope::kKernelFunctionDtype));
static_assert(same(at::RecordScope::CUSTOM_CLASS, core::Scope::kCustomClass));
static_assert(same(at::RecordScope::BUILD_FEATURE, core::Scope::kBuildFeature));
static_assert(same(at::RecordScope::LITE_INTERPRETER, core::Scope::kLiteInterpreter));
static_assert(same(at::RecordScope::USER_SCOPE, core::Scope::kUserScope));
static_assert(same(at::RecordScope::STATIC_RUNTIME_OP, core::Scope::kStaticRuntimeOp));
static_assert(same(at::RecordScope::STATIC_RUNTIME_MODEL, core::Scope::kStaticRuntimeModel));

}  // namespace
}  // namespace torchtrace::observer
