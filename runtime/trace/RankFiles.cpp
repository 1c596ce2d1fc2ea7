// SPDX-License-Identifier: Apache-2.0
#include "trace/RankFiles.h"

#include "core/Settings.h"

#include <algorithm>
#include <chrono>
#include <map>

namespace gc3::trace {

namespace {

constexpr std::string_view mark = "%r";

std::string withRank(const std::string &pattern, uint32_t rank) {
  std::string name = pattern;
  const size_t folder = name.rfind('/') + 1; // 0 if there is no folder
  if (name.find(mark) == std::string::npos) {
    const size_t ending = name.rfind('.');
    name.insert(ending == std::string::npos || ending <= folder ? name.size() : ending, ".%r");
  }
  return replaced(std::move(name), mark, std::to_string(rank));
}

/// The largest tolerated difference between the wall clocks of machines, in nanoseconds.
constexpr uint64_t slack = 1'000'000'000;

/// The values of wallClock() and now() at one moment.
struct Moment {
  uint64_t wall = 0, here = 0;
};

/// Reads both clocks several times, because the system can stop the thread between the two. Returns the values that
/// were read in the shortest time.
Moment readClocks() {
  constexpr int attempts = 10;
  Moment best;
  uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < attempts; ++i) {
    const uint64_t here = now(), wall = wallClock(), took = now() - here;
    if (took < shortest)
      best = {wall, here};
    shortest = std::min(shortest, took);
  }
  return best;
}

/// Returns the moment at which rank 0 joined, minus `slack`, as a value of now() in this process.
uint64_t originOf(const JoinedRank &rank) {
  const auto [wall, here] = readClocks();
  const uint64_t since = wall + slack > rank.joined ? wall + slack - rank.joined : 0;
  return here > since ? here - since : 0;
}

} // namespace

uint64_t wallClock() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
}

TraceFile *fileOfGpu(const std::string &pattern, int device, const JoinedRank &rank) {
  static std::mutex mutex;
  static auto &files =
      *new std::map<std::pair<std::string, int>, TraceFile *>; // never destroyed, like the map in TraceFile.cpp
  std::lock_guard lock(mutex);
  const auto [known, isNew] = files.try_emplace({pattern, device});
  if (isNew)
    known->second = TraceFile::named(withRank(pattern, rank.rank), {rank.rank, rank.ranks, originOf(rank)});
  return known->second;
}

} // namespace gc3::trace
