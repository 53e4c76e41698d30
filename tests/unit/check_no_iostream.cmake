# What is linked into the traced program must not pull in libstdc++'s streams: their locales cost 1 MB
# and 0.17 ms at the start of every process. Usage: cmake -DNM=... -DARCHIVE=... -P this
execute_process(COMMAND "${NM}" --demangle --undefined-only "${ARCHIVE}"
  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
if(NOT symbols MATCHES "operator new")
  message(FATAL_ERROR "${NM} shows no symbols of ${ARCHIVE}: this check would find nothing")
endif()
string(REGEX MATCHALL "[^\n]*std::[^\n]*(stream|locale|ios_base)[^\n]*" found "${symbols}")
if(found)
  list(JOIN found "\n" found)
  message(FATAL_ERROR "${ARCHIVE} needs iostreams:\n${found}")
endif()
