// SPDX-License-Identifier: Apache-2.0
// Dependencies in make's syntax, one path a line. Ninja and CMake read the same.
#include "Dependencies.h"

/// What make and Ninja both read as this path, as far as there is such a thing: gcc's escapes, and a colon's. A '%'
/// would need one in targets, which make reads and CMake does not. Backslashes are doubled only before what would take
/// them for an escape.
static std::string escaped(llvm::StringRef path) {
  std::string out;
  size_t backslashes = 0; // that end `out`
  for (char c : path) {
    if (llvm::StringRef(" \t#:").contains(c))
      out.append(backslashes + 1, '\\');
    else if (c == '$')
      out += '$';
    out += c;
    backslashes = c == '\\' ? backslashes + 1 : 0;
  }
  return out;
}

std::string gc3::driver::dependencyRule(llvm::StringRef target, llvm::ArrayRef<std::string> files, bool phony) {
  std::string rule = escaped(target) + ":";
  for (const std::string &file : files)
    rule += " \\\n  " + escaped(file);
  rule += "\n";
  if (phony)
    for (const std::string &file : files)
      rule += "\n" + escaped(file) + ":\n";
  return rule;
}
