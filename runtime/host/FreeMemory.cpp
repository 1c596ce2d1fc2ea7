// SPDX-License-Identifier: Apache-2.0
#include "host/FreeMemory.h"

#include <algorithm>
#include <fstream>

namespace gc3::host {

namespace {

constexpr uint64_t unknown = UINT64_MAX;

/// Returns the rest of the first line that begins with `prefix`; empty if there is none.
std::string restOfLine(const std::string &path, const std::string &prefix) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.compare(0, prefix.size(), prefix) == 0)
      return line.substr(prefix.size());
  return {};
}

uint64_t numberIn(const std::string &path) {
  std::ifstream file(path);
  uint64_t number = 0;
  return file >> number ? number : unknown;
}

uint64_t freeInMachine(const std::string &root) {
  const std::string kibibytes = restOfLine(root + "/proc/meminfo", "MemAvailable:");
  return kibibytes.empty() ? unknown : std::stoull(kibibytes) << 10;
}

/// A group without a limit has the text "max" instead of a number.
uint64_t freeInGroup(const std::string &folder) {
  const uint64_t limit = numberIn(folder + "/memory.max"), used = numberIn(folder + "/memory.current");
  if (limit == unknown || used == unknown)
    return unknown;
  return limit - std::min(limit, used);
}

} // namespace

uint64_t freeMemory(const std::string &root) {
  uint64_t least = freeInMachine(root);
  std::string group = restOfLine(root + "/proc/self/cgroup", "0::");
  for (;; group.resize(group.rfind('/'))) { // the limits of all groups that contain the group apply
    least = std::min(least, freeInGroup(root + "/sys/fs/cgroup" + group));
    if (group.find('/') == group.npos)
      return least;
  }
}

} // namespace gc3::host
