#include "observer/layout_check.h"

#include <cstring>

#include "core/caution.h"
#include "core/log.h"

namespace torchtrace::observer {

std::atomic<LayoutVerdict> g_layout_verdict{LayoutVerdict::kUnchecked};
std::atomic<std::uint32_t> g_forward_thread_offset{0};

namespace {

std::atomic<std::uint32_t> g_agreed{0};
std::atomic<const char*> g_failed_check{nullptr};
std::atomic<bool> g_said{false};

/// Outside of the enumeration: there is no verdict to go back to.
constexpr auto kNotQuiesced = static_cast<LayoutVerdict>(0xFF);
std::atomic<LayoutVerdict> g_before_quiesce{kNotQuiesced};

/// The op path's short way is for verified layouts only. Looks again, since another thread may have
/// moved the verdict in between and told its own before this one.
void tell_op_path() noexcept {
  LayoutVerdict told{};
  do {
    told = g_layout_verdict.load();
    core::set_caution(core::kLayoutNotVerified, told != LayoutVerdict::kVerified);
  } while (told != g_layout_verdict.load());
}

bool is_quiesced() noexcept {
  return g_before_quiesce.load(std::memory_order_relaxed) != kNotQuiesced;
}

/// Moves the verdict to the right, never back.
LayoutVerdict settle(LayoutVerdict verdict, const char* failed_check) noexcept {
  LayoutVerdict seen = g_layout_verdict.load(std::memory_order_relaxed);
  while (seen < verdict && !g_layout_verdict.compare_exchange_weak(seen, verdict)) {
  }
  tell_op_path();
  if (failed_check != nullptr) {
    g_failed_check.store(failed_check, std::memory_order_relaxed);
    core::say_once(g_said, failed_check);
  }
  return verdict;
}

/// True if what stands at `string` is a well-formed std::string of this ABI whose characters can be
/// read: a short one points into itself, a long one has room for its length. Source: libstdc++
/// bits/basic_string.h: pointer, length, then 16 bytes of buffer or the capacity.
template <StringAbi abi>
bool looks_like_string(const void* string) noexcept {
  const auto* text = read_at<const char*>(string, 0);
  if (text == nullptr) return false;
  if constexpr (abi == StringAbi::kCxx11) {
    const auto length = read_at<std::size_t>(string, 8);
    if (length < 16 && text == static_cast<const char*>(string) + 16) return text[length] == '\0';
    return length <= read_at<std::size_t>(string, 16) && length < 4096;
  }
  return true;
}

template <StringAbi abi>
bool name_agrees(const TorchLibrary& torch, const RecordFunction& event) noexcept {
  const auto index = read_at<std::uint8_t>(&event, Offsets<abi>::kFunctionIndex);
  const char* name = torch.name(&event);
  const auto* first_word = read_at<const void*>(&event, kFunctionOffset);
  if (index != kFunctionIsSchema) return index == 0 && first_word == name;
  return first_word != nullptr && read_at<const char*>(first_word, 0) == name;
}

template <StringAbi abi>
bool overload_agrees(const TorchLibrary& torch, const RecordFunction& event) noexcept {
  if (read_at<std::uint8_t>(&event, Offsets<abi>::kFunctionIndex) != kFunctionIsSchema) return true;
  const char* overload =
      read_at<const char*>(&event, kFunctionOffset) + Offsets<abi>::kOverloadInSchema;
  if (!looks_like_string<abi>(overload)) return false;
  if (torch.overload_name == nullptr) return true;
  return std::strcmp(read_at<const char*>(overload, 0), torch.overload_name(&event)) == 0;
}

/// Tells by the object itself whether it has `kwinputs_`: an empty unordered_map points to the one
/// bucket inside itself. Source: libstdc++ bits/hashtable.h {buckets, bucket_count, ...,
/// single_bucket at 48}.
template <StringAbi abi>
std::uint32_t find_forward_thread(const RecordFunction& event) noexcept {
  constexpr std::size_t kMap = Offsets<abi>::kKeywordInputs;
  const auto* single_bucket = reinterpret_cast<const char*>(&event) + kMap + 48;
  const auto* buckets = read_at<const char*>(&event, kMap);
  if (buckets == single_bucket && read_at<std::size_t>(&event, kMap + 8) == 1) {
    return Offsets<abi>::kForwardThreadWithKeywordInputs;
  }
  return buckets == nullptr ? Offsets<abi>::kForwardThreadWithout : 0;
}

bool scope_agrees(const RecordFunctionCallback& registered, std::uint8_t scope) noexcept {
  return scope < core::kScopeCount && registered.scopes[scope];
}

/// Only schema-named functions: asynchronous scopes of c10d carry the thread that created them.
template <StringAbi abi>
bool thread_agrees(const TorchLibrary& torch, const RecordFunction& event) noexcept {
  if (read_at<std::uint8_t>(&event, kScopeOffset) !=
          static_cast<std::uint8_t>(core::Scope::kFunction) ||
      read_at<std::uint8_t>(&event, Offsets<abi>::kFunctionIndex) != kFunctionIsSchema ||
      torch.current_thread_id == nullptr) {
    return true;
  }
  return read_at<std::uint64_t>(&event, kThreadIdOffset) == torch.current_thread_id();
}

}  // namespace

template <StringAbi abi>
LayoutVerdict check_event(const TorchLibrary& torch, const RecordFunctionCallback& registered,
                          const RecordFunction& event) noexcept {
  if (!scope_agrees(registered, read_at<std::uint8_t>(&event, kScopeOffset))) {
    return settle(LayoutVerdict::kOff,
                  "this PyTorch's RecordFunction has another layout (check: scope); nothing is "
                  "recorded");
  }
  if (!name_agrees<abi>(torch, event)) {
    return settle(LayoutVerdict::kNameOnly,
                  "this PyTorch's RecordFunction has another layout (check: name); recording "
                  "without overload names and sequence numbers");
  }
  const auto sequence = read_at<std::int64_t>(&event, Offsets<abi>::kSequenceNumber);
  if (!overload_agrees<abi>(torch, event) || !thread_agrees<abi>(torch, event) || sequence < -1) {
    return settle(LayoutVerdict::kNameOnly,
                  "this PyTorch's RecordFunction has another layout (check: overload, thread or "
                  "sequence number); recording without overload names and sequence numbers");
  }
  g_forward_thread_offset.store(find_forward_thread<abi>(event), std::memory_order_relaxed);
  if (g_agreed.fetch_add(1, std::memory_order_relaxed) + 1 >= kEventsToVerify) {
    settle(LayoutVerdict::kVerified, nullptr);
  }
  return LayoutVerdict::kVerified;
}

template LayoutVerdict check_event<StringAbi::kCxx11>(const TorchLibrary&,
                                                      const RecordFunctionCallback&,
                                                      const RecordFunction&) noexcept;
template LayoutVerdict check_event<StringAbi::kOld>(const TorchLibrary&,
                                                    const RecordFunctionCallback&,
                                                    const RecordFunction&) noexcept;

void quiesce_layout() noexcept {
  const LayoutVerdict verdict = g_layout_verdict.load(std::memory_order_relaxed);
  g_before_quiesce.store(verdict, std::memory_order_relaxed);
  g_layout_verdict.store(
      verdict <= LayoutVerdict::kVerified ? LayoutVerdict::kQuiesced : LayoutVerdict::kOff,
      std::memory_order_relaxed);
  tell_op_path();
}

void resume_layout() noexcept {
  if (!is_quiesced()) return;
  g_layout_verdict.store(g_before_quiesce.load(std::memory_order_relaxed),
                         std::memory_order_relaxed);
  g_before_quiesce.store(kNotQuiesced, std::memory_order_relaxed);
  tell_op_path();
}

void forget_verdict() noexcept {
  g_before_quiesce.store(kNotQuiesced);
  g_layout_verdict.store(LayoutVerdict::kUnchecked);
  tell_op_path();
  g_forward_thread_offset.store(0);
  g_agreed.store(0);
  g_failed_check.store(nullptr);
}

const char* describe_layout() noexcept {
  const char* failed = g_failed_check.load(std::memory_order_relaxed);
  if (failed != nullptr) return failed;
  const LayoutVerdict verdict = is_quiesced() ? g_before_quiesce.load(std::memory_order_relaxed)
                                              : g_layout_verdict.load(std::memory_order_relaxed);
  return verdict == LayoutVerdict::kVerified ? "verified on the first events"
                                             : "agrees with all events so far";
}

}  // namespace torchtrace::observer
