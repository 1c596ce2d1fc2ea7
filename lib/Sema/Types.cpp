// SPDX-License-Identifier: Apache-2.0
// Compares types by structure: two lists agree if their elements agree, and an empty list agrees with every list.
#include "Types.h"

using namespace gc3::sema;

std::string gc3::sema::str(Type type) {
  static constexpr const char *names[] = {"an error", "nothing",  "int",   "bool", "string",
                                          "buffer",   "protocol", "chunk", "..."};
  return std::string(type.depth, '[') + names[type.base] + std::string(type.depth, ']');
}

bool gc3::sema::accepts(Type to, Type from) {
  return to == from || to.isError() || from.isError() || (from.base == Type::Unknown && from.depth <= to.depth);
}

Type gc3::sema::unify(Type a, Type b) {
  if (a.isError() || accepts(b, a))
    return b;
  return accepts(a, b) ? a : Type();
}
