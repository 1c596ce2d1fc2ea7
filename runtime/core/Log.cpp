// SPDX-License-Identifier: Apache-2.0
#include "core/Log.h"

#include "core/Settings.h"

#include <cstdio>
#include <mutex>
#include <set>

namespace gc3::core {

// Writes each line with one call of fprintf, so that lines of several threads do not mix.
void log(const std::string &text) {
  std::fprintf(stderr, "gc3: %s\n", text.c_str());
}

void logOnce(const std::string &text) {
  // The set is never destroyed, because other threads can call this function while the process ends.
  static auto &logged = *new std::set<std::string>;
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (logged.insert(text).second)
    log(text);
}

bool isInfoEnabled() {
  static const bool answer = settings().isInfoEnabled();
  return answer;
}

} // namespace gc3::core
