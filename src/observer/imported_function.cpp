#include "observer/imported_function.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace torchtrace::observer {

namespace {

/// What is needed of a library's dynamic section.
struct Dynamic {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const ElfW(Rela) * calls = nullptr;
  std::size_t calls_bytes = 0;
  const ElfW(Rela) * others = nullptr;
  std::size_t others_bytes = 0;
  std::size_t relative_count = 0;  ///< Of `others`, at the beginning: they name no symbol.
  /// GNU hash table; its second word says how many symbols stand before the first one in it, which
  /// none of those that the library imports is.
  const std::uint32_t* hash_table = nullptr;
};

/// The loader has made the section's addresses absolute.
template <class T>
const T* pointer_of(const ElfW(Dyn) & entry) noexcept {
  return reinterpret_cast<const T*>(entry.d_un.d_ptr);  // NOLINT(performance-no-int-to-ptr)
}

Dynamic read_dynamic(const link_map& library) noexcept {
  Dynamic dynamic;
  for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_SYMTAB:
        dynamic.symbols = pointer_of<ElfW(Sym)>(*entry);
        break;
      case DT_STRTAB:
        dynamic.strings = pointer_of<char>(*entry);
        break;
      case DT_GNU_HASH:
        dynamic.hash_table = pointer_of<std::uint32_t>(*entry);
        break;
      case DT_JMPREL:
        dynamic.calls = pointer_of<ElfW(Rela)>(*entry);
        break;
      case DT_PLTRELSZ:
        dynamic.calls_bytes = entry->d_un.d_val;
        break;
      case DT_RELA:
        dynamic.others = pointer_of<ElfW(Rela)>(*entry);
        break;
      case DT_RELASZ:
        dynamic.others_bytes = entry->d_un.d_val;
        break;
      case DT_RELACOUNT:
        dynamic.relative_count = entry->d_un.d_val;
        break;
      default:
        break;
    }
  }
  return dynamic;
}

/// Index of a symbol that the library takes from others; 0 if there is none.
std::size_t find_undefined(const Dynamic& dynamic, const char* name) noexcept {
  if (dynamic.symbols == nullptr || dynamic.strings == nullptr || dynamic.hash_table == nullptr) {
    return 0;
  }
  for (std::size_t at = 1; at < dynamic.hash_table[1]; ++at) {
    const ElfW(Sym)& symbol = dynamic.symbols[at];
    if (symbol.st_shndx != SHN_UNDEF) continue;
    if (std::strcmp(dynamic.strings + symbol.st_name, name) == 0) return at;
  }
  return 0;
}

std::uintptr_t page_of(std::uintptr_t address) noexcept {
  return address & ~(static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE)) - 1);
}

struct AddressRange {
  std::uintptr_t library;  ///< Where the library is loaded.
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

/// dl_iterate_phdr callback: whole pages of the library's PT_GNU_RELRO, as in _dl_protect_relro.
int find_read_only(dl_phdr_info* info, std::size_t /*size*/, void* data) {
  auto& range = *static_cast<AddressRange*>(data);
  if (info->dlpi_addr != range.library) return 0;
  for (std::size_t at = 0; at < info->dlpi_phnum; ++at) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[at];
    if (segment.p_type != PT_GNU_RELRO) continue;
    range.begin = page_of(range.library + segment.p_vaddr);
    range.end = page_of(range.library + segment.p_vaddr + segment.p_memsz);
  }
  return 1;
}

constexpr std::size_t symbol_of(const ElfW(Rela) & relocation) noexcept {
  return ELF64_R_SYM(relocation.r_info);
}

}  // namespace

ImportedFunction::ImportedFunction(const link_map& library, const char* function) noexcept {
  AddressRange read_only{library.l_addr};
  dl_iterate_phdr(find_read_only, &read_only);
  read_only_begin_ = read_only.begin;
  read_only_end_ = read_only.end;
  const Dynamic dynamic = read_dynamic(library);
  const std::size_t symbol = find_undefined(dynamic, function);
  if (symbol == 0) return;
  if (dynamic.calls != nullptr) {
    note(library, dynamic.calls, dynamic.calls_bytes / sizeof(ElfW(Rela)), symbol);
  }
  const std::size_t others = dynamic.others_bytes / sizeof(ElfW(Rela));
  if (dynamic.others != nullptr && dynamic.relative_count < others) {
    note(library, dynamic.others + dynamic.relative_count, others - dynamic.relative_count, symbol);
  }
}

void ImportedFunction::note(const link_map& library, const ElfW(Rela) * first, std::size_t count,
                            std::size_t symbol) noexcept {
  for (const ElfW(Rela)* relocation = first; relocation != first + count; ++relocation) {
    if (symbol_of(*relocation) != symbol || count_ == kMaxEntries) continue;
    const std::uintptr_t address = library.l_addr + relocation->r_offset;
    entries_[count_++].pointer =
        reinterpret_cast<void**>(address);  // NOLINT(performance-no-int-to-ptr)
  }
}

bool ImportedFunction::write(void** pointer, void* value) const noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const bool is_read_only = address >= read_only_begin_ && address < read_only_end_;
  const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* page = reinterpret_cast<void*>(page_of(address));  // NOLINT(performance-no-int-to-ptr)
  if (is_read_only && mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(pointer, value, __ATOMIC_RELEASE);
  if (is_read_only) mprotect(page, page_bytes, PROT_READ);
  return true;
}

bool ImportedFunction::replace(void* stand_in) noexcept {
  bool is_replaced = false;
  for (std::size_t at = 0; at < count_; ++at) {
    Entry& entry = entries_[at];
    entry.original = __atomic_load_n(entry.pointer, __ATOMIC_ACQUIRE);
    if (write(entry.pointer, stand_in)) {
      is_replaced = true;
    } else {
      entry.pointer = nullptr;
    }
  }
  return is_replaced;
}

void ImportedFunction::restore() noexcept {
  // Backwards: one pointer may have been found in both tables.
  for (std::size_t at = count_; at-- > 0;) {
    const Entry& entry = entries_[at];
    if (entry.pointer != nullptr) write(entry.pointer, entry.original);
  }
}

}  // namespace torchtrace::observer
