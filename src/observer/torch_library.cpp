#include "observer/torch_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace torchtrace::observer {

namespace {

constexpr char kLibraryName[] = "libtorch_cpu.so";

/// dl_iterate_phdr callback: copies the path of libtorch_cpu, whatever its version suffix.
int match_library(dl_phdr_info* info, std::size_t /*size*/, void* data) {
  if (info->dlpi_name == nullptr) return 0;
  const char* slash = std::strrchr(info->dlpi_name, '/');
  const char* file = slash == nullptr ? info->dlpi_name : slash + 1;
  if (std::strncmp(file, kLibraryName, sizeof(kLibraryName) - 1) != 0) return 0;
  auto* path = static_cast<char*>(data);
  if (path != nullptr) std::snprintf(path, sizeof(TorchLibrary::path), "%s", info->dlpi_name);
  return 1;
}

template <class Function>
bool resolve(void* handle, const char* symbol, Function& function) noexcept {
  function = reinterpret_cast<Function>(dlsym(handle, symbol));
  return function != nullptr;
}

/// `at::RecordFunction::before(std::string, long)` carries the string ABI in its mangled name. It
/// is gone from 2.9 on, and every later build has the new ABI.
StringAbi detect_string_abi(void* handle) noexcept {
  return dlsym(handle, "_ZN2at14RecordFunction6beforeESsl") != nullptr ? StringAbi::kOld
                                                                       : StringAbi::kCxx11;
}

}  // namespace

bool torch_is_loaded() noexcept { return dl_iterate_phdr(match_library, nullptr) != 0; }

bool find_torch_library(void* (*real_dlopen)(const char*, int), TorchLibrary& library,
                        const char** why) noexcept {
  if (dl_iterate_phdr(match_library, library.path) == 0) {
    *why = "libtorch_cpu is not loaded";
    return false;
  }
  void* handle = real_dlopen(library.path, RTLD_NOLOAD | RTLD_LAZY);
  if (handle == nullptr) {
    *why = "libtorch_cpu cannot be opened";
    return false;
  }
  // Kept open: our callbacks stay registered with it.
  if (!resolve(handle, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE",
               library.add_global_callback) ||
      !resolve(handle, "_ZNK2at14RecordFunction4nameEv", library.name)) {
    *why =
        "this libtorch_cpu does not export at::addGlobalCallback and "
        "at::RecordFunction::name";
    return false;
  }
  resolve(handle, "_ZNK2at14RecordFunction13overload_nameEv", library.overload_name);
  resolve(handle, "_ZN2at14RecordFunction15currentThreadIdEv", library.current_thread_id);
  resolve(handle, "_ZN2at15disableCallbackEm", library.disable_callback);
  resolve(handle, "_ZN2at16reenableCallbackEm", library.reenable_callback);
  resolve(handle, "_ZN2at16getStepCallbacksENS_11RecordScopeE", library.get_step_callbacks);
  library.string_abi = detect_string_abi(handle);
  return true;
}

namespace {

/// Reads `__version__ = '...'` from torch/version.py, which stands one folder above the library.
bool read_version_file(const char* library_path, char* text, std::size_t size) noexcept {
  char path[sizeof(TorchLibrary::path) + 16];
  const char* slash = std::strrchr(library_path, '/');
  if (slash == nullptr) return false;
  std::snprintf(path, sizeof(path), "%.*s/../version.py", static_cast<int>(slash - library_path),
                library_path);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char file[1024];
  const ssize_t length = read(fd, file, sizeof(file) - 1);
  close(fd);
  if (length <= 0) return false;
  file[length] = '\0';
  const char* line = std::strstr(file, "\n__version__ =");
  const char* start = line == nullptr ? nullptr : std::strchr(line, '\'');
  const char* end = start == nullptr ? nullptr : std::strchr(start + 1, '\'');
  if (end == nullptr) return false;
  std::snprintf(text, size, "%.*s", static_cast<int>(end - start - 1), start + 1);
  return true;
}

}  // namespace

void read_torch_version(const char* library_path, char* text, std::size_t size) noexcept {
  if (read_version_file(library_path, text, size)) return;
  const char* suffix = std::strstr(library_path, kLibraryName);
  if (suffix != nullptr) suffix += sizeof(kLibraryName) - 1;
  std::snprintf(text, size, "%s", suffix != nullptr && *suffix == '.' ? suffix + 1 : "unknown");
}

}  // namespace torchtrace::observer
