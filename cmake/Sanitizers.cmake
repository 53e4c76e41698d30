if(TORCHTRACE_SANITIZER STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(TORCHTRACE_SANITIZER STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
elseif(TORCHTRACE_SANITIZER)
  message(FATAL_ERROR "TORCHTRACE_SANITIZER=${TORCHTRACE_SANITIZER}: expected address, thread or nothing")
endif()

# gcc's manual of -fsanitize: instrumented code gives more false positives of this kind. gcc 12 says
# it of <regex>.
if(TORCHTRACE_SANITIZER AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-maybe-uninitialized)
endif()
