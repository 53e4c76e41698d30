#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>

namespace torchtrace::observer {

/// The pointers through which one loaded library calls a function of another: its entries in the
/// global offset table. Source: System V ABI, chapter 5; the loader's elf/dynamic-link.h.
/// Thread: one, outside the loader; the library stays loaded.
class ImportedFunction {
 public:
  ImportedFunction(const link_map& library, const char* function) noexcept;

  /// Lets the library call `stand_in` instead. False if it imports no such function.
  bool replace(void* stand_in) noexcept;

  /// Puts the pointers back as they were.
  void restore() noexcept;

 private:
  /// A library has one for calls and one for the function's address.
  static constexpr std::size_t kMaxEntries = 4;
  struct Entry {
    void** pointer = nullptr;
    void* original = nullptr;
  };

  void note(const link_map& library, const ElfW(Rela) * first, std::size_t count,
            std::size_t symbol) noexcept;
  bool write(void** pointer, void* value) const noexcept;

  Entry entries_[kMaxEntries];
  std::size_t count_ = 0;
  std::uintptr_t read_only_begin_ = 0;  ///< What the loader has made read-only after relocation.
  std::uintptr_t read_only_end_ = 0;
};

}  // namespace torchtrace::observer
