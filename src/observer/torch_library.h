#pragma once

#include "observer/torch_abi.h"

namespace torchtrace::observer {

/// What was found of the libtorch_cpu that the process itself has loaded.
struct TorchLibrary {
  char path[4096];
  StringAbi string_abi;
  AddGlobalCallback add_global_callback;
  GetName name;
  GetName overload_name;  ///< nullptr before PyTorch 2.7.
  // nullptr where they are not exported:
  GetCurrentThread current_thread_id;
  SwitchCallback disable_callback;
  SwitchCallback reenable_callback;
  GetStepCallbacks get_step_callbacks;
};

/// True if a libtorch_cpu is mapped. Cheap: looks at the loader's list only.
bool torch_is_loaded() noexcept;

/// Finds the mapped libtorch_cpu and its symbols. Never loads anything: the library is opened with
/// RTLD_NOLOAD, and only when no dlopen of the program is under way (preload.cpp).
/// Errors: false and a sentence in `*why` if there is none or a symbol is missing.
/// Thread: any outside the loader; `real_dlopen` is the loader's own.
bool find_torch_library(void* (*real_dlopen)(const char*, int), TorchLibrary& library,
                        const char** why) noexcept;

/// The version in words, e.g. "2.13.0+cpu" from torch/version.py beside the library, or the one in
/// the library's file name; "unknown" otherwise. Reads one file. `text` has room for `size` bytes.
void read_torch_version(const char* library_path, char* text, std::size_t size) noexcept;

}  // namespace torchtrace::observer
