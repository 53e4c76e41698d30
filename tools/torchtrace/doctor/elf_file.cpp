#include "doctor/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "file_descriptor.h"

namespace torchtrace::cli {
namespace {

/// No real file has more; keeps a damaged one from filling the memory.
constexpr std::size_t kMaxHeaders = 256;
constexpr std::size_t kMaxDynamicEntries = 4096;
constexpr std::size_t kMaxNameLength = 255;

/// False: the file is too short.
template <typename Struct>
bool read_at(int fd, std::uint64_t offset, Struct& out) {
  return pread(fd, &out, sizeof(out), static_cast<off_t>(offset)) ==
         static_cast<ssize_t>(sizeof(out));
}

std::vector<Elf64_Phdr> read_program_headers(int fd, const Elf64_Ehdr& header) {
  std::vector<Elf64_Phdr> headers;
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return headers;
  Elf64_Phdr program;
  for (std::size_t i = 0; i < header.e_phnum && i < kMaxHeaders; ++i) {
    if (!read_at(fd, header.e_phoff + i * sizeof(program), program)) break;
    headers.push_back(program);
  }
  return headers;
}

/// Where in the file the byte is that is loaded to `address`.
std::optional<std::uint64_t> offset_of(const std::vector<Elf64_Phdr>& headers,
                                       std::uint64_t address) {
  for (const Elf64_Phdr& header : headers) {
    if (header.p_type != PT_LOAD || address < header.p_vaddr) continue;
    if (address - header.p_vaddr < header.p_filesz) {
      return header.p_offset + (address - header.p_vaddr);
    }
  }
  return std::nullopt;
}

std::string read_name(int fd, std::uint64_t offset) {
  char name[kMaxNameLength + 1] = {};
  const ssize_t length = pread(fd, name, kMaxNameLength, static_cast<off_t>(offset));
  return length > 0 ? name : "";
}

std::vector<std::string> read_needed(int fd, const std::vector<Elf64_Phdr>& headers,
                                     const Elf64_Phdr& dynamic) {
  std::vector<std::uint64_t> name_offsets;
  std::optional<std::uint64_t> names;
  Elf64_Dyn entry;
  const std::size_t count = dynamic.p_filesz / sizeof(entry);
  for (std::size_t i = 0; i < count && i < kMaxDynamicEntries; ++i) {
    if (!read_at(fd, dynamic.p_offset + i * sizeof(entry), entry) || entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED) name_offsets.push_back(entry.d_un.d_val);
    if (entry.d_tag == DT_STRTAB) names = offset_of(headers, entry.d_un.d_ptr);
  }
  std::vector<std::string> needed;
  if (!names) return needed;
  for (const std::uint64_t offset : name_offsets) needed.push_back(read_name(fd, *names + offset));
  return needed;
}

}  // namespace

int read_elf_file(const std::string& path, ElfFile& file) {
  file = {};
  const FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.is_open()) return errno;
  unsigned char identity[EI_NIDENT] = {};
  if (pread(fd.get(), identity, sizeof(identity), 0) < 0) return errno;
  if (std::memcmp(identity, ELFMAG, SELFMAG) != 0) return 0;
  file.is_elf = true;
  file.is_64_bit = identity[EI_CLASS] == ELFCLASS64;
  Elf64_Ehdr header;  // the machine stands at the same place in a 32-bit file
  if (!read_at(fd.get(), 0, header)) return 0;
  file.machine = header.e_machine;
  if (!file.is_64_bit) return 0;
  const std::vector<Elf64_Phdr> headers = read_program_headers(fd.get(), header);
  for (const Elf64_Phdr& program : headers) {
    if (program.p_type == PT_INTERP) file.has_interpreter = true;
    if (program.p_type == PT_DYNAMIC) file.needed = read_needed(fd.get(), headers, program);
  }
  return 0;
}

}  // namespace torchtrace::cli
