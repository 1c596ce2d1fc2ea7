# cmake -DOUT=file.cpp -DDIR=html "-DSCRIPTS=a.js b.js" -P embed.cmake: writes the files of the page as C++ raw strings.
function(embed name result)
  file(READ "${DIR}/${name}" content)
  # Some compilers limit a raw string to 64 KiB.
  string(LENGTH "${content}" length)
  if(length GREATER 60000)
    message(FATAL_ERROR "${name} is too long to embed as one string")
  endif()
  set(${result} "R\"gc3(${content})gc3\"" PARENT_SCOPE)
endfunction()

embed(page.html page)
embed(page.css style)
set(scripts "")
separate_arguments(SCRIPTS)
foreach(name IN LISTS SCRIPTS)
  embed(${name} script)
  string(APPEND scripts "    ${script},\n")
endforeach()
file(WRITE "${OUT}" "// Made from lib/Emit/html by embed.cmake.\n#include \"PageData.h\"\n\n"
  "static const llvm::StringRef scripts[] = {\n${scripts}};\n\n"
  "llvm::StringRef gc3::emit::pageTemplate() { return ${page}; }\n"
  "llvm::StringRef gc3::emit::pageStyle() { return ${style}; }\n"
  "llvm::ArrayRef<llvm::StringRef> gc3::emit::pageScripts() { return scripts; }\n")
