// SPDX-License-Identifier: Apache-2.0
// Dependencies in make's syntax, one path a line. Ninja and CMake read the same.
#include "Dependencies.h"

/// Where a path stands in a rule: only a target can be taken for a pattern.
enum class Side { Target, Prerequisite };

/// What make and Ninja read as this path, as far as both can: gcc's escapes, and a colon's. Backslashes are doubled
/// only before what would take them for an escape.
static std::string escaped(llvm::StringRef path, Side side) {
  const llvm::StringRef special = side == Side::Target ? " \t#:%" : " \t#:";
  std::string out;
  size_t backslashes = 0; // that end `out`
  for (char c : path) {
    if (special.contains(c))
      out.append(backslashes + 1, '\\');
    else if (c == '$')
      out += '$';
    out += c;
    backslashes = c == '\\' ? backslashes + 1 : 0;
  }
  return out;
}

std::string gc3::driver::dependencyRule(llvm::StringRef target, llvm::ArrayRef<std::string> files, bool phony) {
  std::string rule = escaped(target, Side::Target) + ":";
  for (const std::string &file : files)
    rule += " \\\n  " + escaped(file, Side::Prerequisite);
  rule += "\n";
  if (phony)
    for (const std::string &file : files)
      rule += "\n" + escaped(file, Side::Target) + ":\n";
  return rule;
}
