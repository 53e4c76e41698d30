# torchtrace_warnings: what every target of ours is compiled with.
add_library(torchtrace_warnings INTERFACE)
target_compile_options(torchtrace_warnings INTERFACE -Wall -Wextra -Wpedantic)
if(TORCHTRACE_WERROR)
  target_compile_options(torchtrace_warnings INTERFACE -Werror)
endif()
target_include_directories(torchtrace_warnings INTERFACE "${PROJECT_SOURCE_DIR}/src")
