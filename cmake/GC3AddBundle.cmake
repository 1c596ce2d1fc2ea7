# gc3_add_bundle(<target> <file.gc3>
#                [OUTPUT <file.gc3b>]      # relative to the current binary directory; <target>.gc3b if left out
#                [DEFINES <name=value>...] # params of the program
#                [INCLUDES <dir>...]       # searched for imports after the importing file's directory
#                [PROGRAM <name>]          # compiles only this program of the file
#                [OPTIONS <option>...])    # anything else for gc3c
#
# Adds a target, part of `all`, that compiles a bundle. It compiles again whenever the source, an imported file, an argument
# of this call or the compiler changes. The target's property GC3_BUNDLE is the bundle's path:
# $<TARGET_PROPERTY:<target>,GC3_BUNDLE>. Relative sources and include directories are below the current source directory.
# Works with Ninja and Makefiles. With Makefiles, CMake never forgets a dependency, so after the removal of an imported file
# the bundle is compiled in every build until `make clean`.
cmake_policy(PUSH)
cmake_policy(VERSION 3.22)

# Makes relative paths absolute. They are relative to the caller's directory, as in CMake's own commands.
function(gc3_absolute_paths result)
  set(paths)
  foreach(path IN LISTS ARGN)
    get_filename_component(path "${path}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    list(APPEND paths "${path}")
  endforeach()
  set(${result} "${paths}" PARENT_SCOPE)
endfunction()

function(gc3_add_bundle target source)
  set(call "gc3_add_bundle(${target})")
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "OUTPUT;PROGRAM" "DEFINES;INCLUDES;OPTIONS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${call}: unknown argument '${ARG_UNPARSED_ARGUMENTS}'; it takes one source, then OUTPUT, DEFINES, "
      "INCLUDES, PROGRAM and OPTIONS")
  endif()
  if(ARG_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${call}: nothing follows ${ARG_KEYWORDS_MISSING_VALUES}")
  endif()
  if(TARGET ${target})
    message(FATAL_ERROR "${call}: there is a target '${target}' already")
  endif()
  if(NOT TARGET gc3::gc3c)
    message(FATAL_ERROR "${call}: this gc3 has no compiler; install Debian's package gc3, or build gc3 with GC3_COMPILER=ON")
  endif()
  foreach(define IN LISTS ARG_DEFINES)
    if(NOT define MATCHES "^[^=]+=")
      message(FATAL_ERROR "${call}: DEFINES takes name=value, not '${define}'")
    endif()
    if(define MATCHES ";") # CMake's separator of list items
      message(FATAL_ERROR "${call}: DEFINES can't pass on the ';' in '${define}'")
    endif()
  endforeach()

  gc3_absolute_paths(source "${source}")
  get_source_file_property(generated "${source}" GENERATED)
  if(NOT generated AND (NOT EXISTS "${source}" OR IS_DIRECTORY "${source}"))
    message(FATAL_ERROR "${call}: there is no file '${source}'")
  endif()
  gc3_absolute_paths(includes ${ARG_INCLUDES})
  if(NOT ARG_OUTPUT)
    set(ARG_OUTPUT "${target}.gc3b")
  endif()
  get_filename_component(output "${ARG_OUTPUT}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  get_filename_component(directory "${output}" DIRECTORY)
  file(MAKE_DIRECTORY "${directory}")

  list(TRANSFORM ARG_DEFINES PREPEND "-D")
  list(TRANSFORM includes PREPEND "-I")
  set(arguments ${ARG_DEFINES} ${includes})
  if(ARG_PROGRAM)
    list(APPEND arguments "--program=${ARG_PROGRAM}")
  endif()
  list(APPEND arguments ${ARG_OPTIONS})

  add_custom_command(
    OUTPUT "${output}"
    COMMAND gc3::gc3c "${source}" -o "${output}" -MD -MF "${output}.d" ${arguments}
    DEPENDS "${source}" "$<TARGET_FILE:gc3::gc3c>"
    DEPFILE "${output}.d"
    COMMENT "Compiling bundle ${target}"
    VERBATIM COMMAND_EXPAND_LISTS)
  add_custom_target(${target} ALL DEPENDS "${output}")
  set_target_properties(${target} PROPERTIES GC3_BUNDLE "${output}")
endfunction()

cmake_policy(POP)
