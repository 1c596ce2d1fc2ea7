// SPDX-License-Identifier: Apache-2.0
#include "core/Log.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <strings.h>

namespace gc3::core {

// One call per line, so that lines of several threads do not mix.
void tell(const std::string &text) {
  std::fprintf(stderr, "gc3: %s\n", text.c_str());
}

void tellOnce(const std::string &text) {
  // Never destroyed: other threads may call while the process ends.
  static auto &told = *new std::set<std::string>;
  static std::mutex telling;
  std::lock_guard lock(telling);
  if (told.insert(text).second)
    tell(text);
}

bool informs() {
  static const bool answer = [] {
    const char *level = std::getenv("GC3_DEBUG");
    return level && (strcasecmp(level, "INFO") == 0 || strcasecmp(level, "TRACE") == 0);
  }();
  return answer;
}

} // namespace gc3::core
