# gc3_embed(<output.cpp> <header> <function> <folder> <glob>): makes a source file that returns the files of a folder as
# an llvm::ArrayRef<gc3::EmbeddedFile>, in order of name. The header declares the function.
set(GC3_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

function(gc3_embed output header function folder glob)
  file(GLOB files CONFIGURE_DEPENDS "${folder}/${glob}")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DOUT=${output}" "-DHEADER=${header}" "-DFUNCTION=${function}" "-DFOLDER=${folder}"
      "-DGLOB=${glob}" -P "${GC3_EMBED_SCRIPT}"
    DEPENDS ${files} "${GC3_EMBED_SCRIPT}"
    COMMENT "Embedding ${folder}"
    VERBATIM)
endfunction()

function(gc3_write_embedded)
  get_filename_component(name "${FOLDER}" NAME)
  file(GLOB files RELATIVE "${FOLDER}" "${FOLDER}/${GLOB}")
  list(SORT files)
  set(entries "")
  foreach(file ${files})
    file(READ "${FOLDER}/${file}" content)
    # Some compilers limit a raw string to 64 KiB.
    string(LENGTH "${content}" length)
    if(length GREATER 60000)
      message(FATAL_ERROR "${file} is too long to embed as one string")
    endif()
    string(APPEND entries "    {\"${name}/${file}\", R\"gc3(${content})gc3\"},\n")
  endforeach()
  file(WRITE "${OUT}" "// Made from ${name}/${GLOB} by GC3Embed.cmake.\n#include \"${HEADER}\"\n\n"
    "static const gc3::EmbeddedFile files[] = {\n${entries}};\n\n"
    "llvm::ArrayRef<gc3::EmbeddedFile> ${FUNCTION}() { return files; }\n")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  gc3_write_embedded()
endif()
