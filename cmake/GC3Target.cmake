# gc3_library(NAME SOURCES... LINK TARGETS...) and gc3_executable(...) add targets with the project's warnings.
# LINK lists all gc3 targets whose headers the target may include; GC3Layers.cmake checks it against the architecture.

# A parameter may have the name of the member that it initializes. gcc's plain -Wshadow would warn about this, but
# clang's does not.
set(GC3_WARNINGS -Wall -Wextra -Wpedantic $<IF:$<CXX_COMPILER_ID:GNU>,-Wshadow=local,-Wshadow> -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
    -Wimplicit-fallthrough)
# gcc 12 reports overlapping copies in std::string's operator+ that do not exist (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND GC3_WARNINGS -Wno-restrict)
endif()
if(GC3_WERROR)
  list(APPEND GC3_WARNINGS -Werror)
endif()

# A unity build compiles a file that includes several sources. gcc warns about types without linkage in included files.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND GC3_WARNINGS -Wno-subobject-linkage)
endif()

function(gc3_configure target)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${GC3_WARNINGS}>)
endfunction()

function(gc3_library target)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  add_library(${target} STATIC ${ARG_SOURCES})
  target_link_libraries(${target} PUBLIC ${ARG_LINK} PRIVATE ${ARG_PRIVATE_LINK})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  gc3_configure(${target})
endfunction()

# Links the C++ library statically. Otherwise the library would load the system's C++ library into programs that have a
# newer one, such as conda's Python.
function(gc3_link_cxx_statically target)
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()

function(gc3_executable target)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE ${ARG_LINK})
  gc3_configure(${target})
endfunction()

# gc3_unit_test(NAME SOURCES... LINK TARGETS...): adds a GoogleTest binary, which CTest runs as unit.NAME.
function(gc3_unit_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  gc3_executable(${name} SOURCES ${ARG_SOURCES} LINK ${ARG_LINK} GTest::gtest_main)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>) # compiles in two thirds of the time
  add_test(NAME unit.${name} COMMAND ${name})
endfunction()
