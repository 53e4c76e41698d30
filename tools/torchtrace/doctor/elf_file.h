#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace torchtrace::cli {

/// What the dynamic loader will make of a file. Source: elf(5).
struct ElfFile {
  bool is_elf = false;
  bool is_64_bit = false;
  std::uint16_t machine = 0;        ///< EM_X86_64, EM_AARCH64, ...
  bool has_interpreter = false;     ///< A program that is loaded by the dynamic loader.
  std::vector<std::string> needed;  ///< NEEDED entries; 64-bit files of this byte order only.
};

/// Reads the headers of a file. What is no ELF file, or is damaged, gives what could be read.
/// Errors: 0, or errno where it cannot be opened or read at all.
int read_elf_file(const std::string& path, ElfFile& file);

}  // namespace torchtrace::cli
