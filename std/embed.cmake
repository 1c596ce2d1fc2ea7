# cmake -DOUT=file.cpp -DDIR=std -P embed.cmake: writes the files of std/ as C++ raw strings, in order of name.
file(GLOB files RELATIVE "${DIR}" "${DIR}/*.gc3")
list(SORT files)
set(text "// Made from std/*.gc3 by std/embed.cmake.\n#include \"Modules.h\"\n\n")
set(entries "")
foreach(name ${files})
  file(READ "${DIR}/${name}" content)
  # Some compilers limit a raw string to 64 KiB.
  string(LENGTH "${content}" length)
  if(length GREATER 60000)
    message(FATAL_ERROR "${name} is too long to embed as one string")
  endif()
  string(APPEND entries "    {\"std/${name}\", R\"gc3(${content})gc3\"},\n")
endforeach()
string(APPEND text "static const gc3::sema::StandardFile files[] = {\n${entries}};\n\n"
  "llvm::ArrayRef<gc3::sema::StandardFile> gc3::sema::standardFiles() { return files; }\n")
file(WRITE "${OUT}" "${text}")
