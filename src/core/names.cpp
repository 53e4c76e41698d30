#include "core/names.h"

#include <sys/mman.h>

#include <cstring>

#include "core/mapping.h"

namespace torchtrace::core {

namespace {

/// FNV-1a, 32 bits. Source: Fowler, Noll, Vo; draft-eastlake-fnv, section 5.
std::uint32_t hash_name(std::string_view base, std::string_view overload) noexcept {
  std::uint32_t hash = 2166136261U;
  const auto mix = [&hash](char byte) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 16777619U;
  };
  for (const char byte : base) mix(byte);
  if (!overload.empty()) mix('.');
  for (const char byte : overload) mix(byte);
  return hash == 0 ? 1 : hash;
}

constexpr std::string_view kOverflowName = "torchtrace::name_table_full";
constexpr std::string_view kEmptyName = "(unnamed)";
constexpr std::string_view kDamagedName = "(damaged name)";

}  // namespace

bool NameTable::create(Mapping& mapping) noexcept {
  void* memory = mmap(nullptr, kNameSlots * sizeof(Slot), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  slots_ = static_cast<Slot*>(memory);
  mapping_ = &mapping;
  return true;
}

std::uint32_t NameTable::intern(std::string_view base, std::string_view overload) noexcept {
  if (base.empty()) base = kEmptyName;
  base = base.substr(0, kMaxNameBytes);
  overload = overload.substr(0, kMaxNameBytes);
  const std::uint32_t hash = hash_name(base, overload);
  std::uint32_t added = kOverflowId;
  for (std::uint32_t probe = hash;; ++probe) {
    Slot& slot = slots_[probe & (kNameSlots - 1)];
    std::uint64_t seen = slot.load(std::memory_order_acquire);
    if (seen == 0) {
      if (added == kOverflowId) added = append(base, overload, hash);
      if (added == kOverflowId) return kOverflowId;
      const std::uint64_t mine = std::uint64_t{hash} << 32U | added;
      if (slot.compare_exchange_strong(seen, mine, std::memory_order_acq_rel)) return added;
    }
    const auto id = static_cast<std::uint32_t>(seen);
    if (seen >> 32U == hash && equals(id, base, overload)) return id;
  }
}

std::uint32_t NameTable::append(std::string_view base, std::string_view overload,
                                std::uint32_t hash) noexcept {
  // The table never fills up, or probing would not end.
  if (used_.fetch_add(1, std::memory_order_relaxed) >= kNameSlots / 4 * 3) {
    used_.fetch_sub(1, std::memory_order_relaxed);
    return kOverflowId;
  }
  const std::size_t length = base.size() + (overload.empty() ? 0 : 1 + overload.size());
  const std::size_t bytes = (sizeof(NameEntry) + length + 1 + 7) / 8 * 8;
  char* place = mapping_->append_name(bytes);
  if (place == nullptr) {
    used_.fetch_sub(1, std::memory_order_relaxed);
    return kOverflowId;
  }
  char* text = place + sizeof(NameEntry);
  std::memcpy(text, base.data(), base.size());
  if (!overload.empty()) {
    text[base.size()] = '.';
    std::memcpy(text + base.size() + 1, overload.data(), overload.size());
  }
  text[length] = '\0';
  const NameEntry entry{static_cast<std::uint32_t>(length), hash};
  std::memcpy(place, &entry, sizeof(entry));
  return static_cast<std::uint32_t>((place - mapping_->names()) / 8);
}

bool NameTable::equals(std::uint32_t id, std::string_view base,
                       std::string_view overload) const noexcept {
  const std::string_view known = text(id);
  if (overload.empty()) return known == base;
  return known.size() == base.size() + 1 + overload.size() &&
         known.compare(0, base.size(), base) == 0 && known[base.size()] == '.' &&
         known.compare(base.size() + 1, overload.size(), overload) == 0;
}

std::string_view NameTable::text(std::uint32_t id) const noexcept { return arena().text(id); }

NameArena NameTable::arena() const noexcept {
  return {mapping_->names(), mapping_->header().names_bytes};
}

std::string_view NameArena::text(std::uint32_t id) const noexcept {
  if (id == NameTable::kOverflowId) return kOverflowName;
  const std::uint64_t offset = std::uint64_t{id} * 8;
  if (offset + sizeof(NameEntry) >= bytes_) return kDamagedName;
  NameEntry entry{};
  std::memcpy(&entry, names_ + offset, sizeof(entry));
  const char* text = names_ + offset + sizeof(NameEntry);
  const std::uint64_t room = bytes_ - offset - sizeof(NameEntry);
  if (entry.length == 0 || entry.length >= room || text[entry.length] != '\0') return kDamagedName;
  return {text, entry.length};
}

}  // namespace torchtrace::core
