# Also builds the library as a libnccl.so.2, for programs that open NCCL by its path and look up its functions. This
# libnccl.so.2 exports all NCCL functions. Those that gc3 does not interpose are jumps to the installed NCCL
# (Trampolines.S).
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  message(STATUS "the libnccl.so.2 in front of NCCL is for x86-64 only: left out; libgc3nccl.so is built")
  return()
endif()

# Exports.txt lists the exports of NCCL 2.28.9 and 2.29.7. The code below adds further exports of an installed NCCL.
file(STRINGS front/Exports.txt names)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS front/Exports.txt ../ncclapi/Abi.h)
find_library(GC3_NCCL_LIBRARY NAMES nccl libnccl.so.2 HINTS ENV NCCL_HOME /usr/local/cuda ENV CUDA_HOME PATH_SUFFIXES lib lib64)
if(GC3_NCCL_LIBRARY)
  execute_process(COMMAND "${CMAKE_NM}" -D --defined-only "${GC3_NCCL_LIBRARY}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "p?nccl[A-Z][A-Za-z0-9]*" installed "${symbols}")
  list(APPEND names ${installed})
endif()
file(STRINGS ../ncclapi/Abi.h interposed REGEX "^  X\\(")
string(REGEX MATCHALL "X\\([A-Za-z]+" interposed "${interposed}")
list(TRANSFORM interposed REPLACE "^X\\(" "nccl")
list(REMOVE_ITEM names ${interposed})
list(REMOVE_DUPLICATES names)
list(SORT names)
list(TRANSFORM names PREPEND "trampoline ")
list(JOIN names "\n" trampolines)
file(CONFIGURE OUTPUT Trampolines.inc CONTENT "${trampolines}\n" @ONLY)

# gc3_nccl_replacement(TARGET FOLDER SOURCES...): adds TARGET, a libnccl.so.2 in FOLDER.
function(gc3_nccl_replacement target folder)
  set(front "${PROJECT_SOURCE_DIR}/runtime/shim/front")
  gc3_nccl_front(${target} "${front}/Trampolines.S" "${front}/Resolve.cpp" ${ARGN})
  get_target_property(generated GC3Shim BINARY_DIR)
  target_include_directories(${target} PRIVATE "${generated}")
  set_source_files_properties("${front}/Trampolines.S" TARGET_DIRECTORY ${target}
    PROPERTIES OBJECT_DEPENDS "${generated}/Trampolines.inc")
  set_target_properties(${target} PROPERTIES OUTPUT_NAME nccl SOVERSION 2 LIBRARY_OUTPUT_DIRECTORY "${folder}")
endfunction()

gc3_nccl_replacement(gc3nccl-replacement "${CMAKE_CURRENT_BINARY_DIR}/front")
