// SPDX-License-Identifier: Apache-2.0
#include "core/Log.h"

#include "core/Settings.h"

#include <cstdio>
#include <mutex>
#include <set>

namespace gc3::core {

// Writes each line with one call, so that lines of several threads do not mix.
void tell(const std::string &text) {
  std::fprintf(stderr, "gc3: %s\n", text.c_str());
}

void tellOnce(const std::string &text) {
  // Never destroyed: other threads can call this function while the process ends.
  static auto &logged = *new std::set<std::string>;
  static std::mutex telling;
  std::lock_guard lock(telling);
  if (logged.insert(text).second)
    tell(text);
}

bool informs() {
  static const bool answer = settings().informs();
  return answer;
}

} // namespace gc3::core
