// SPDX-License-Identifier: Apache-2.0
// select-adversary [--calls N] [--seed S]: makes N calls with 2 to 8 ranks, and compares all choices of all ranks.
// Prints the numbers, or the first disagreement. docs/selection.md has the result.
#include "Episodes.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace gc3::select;

namespace {

/// Returns false if the arguments are wrong.
bool parse(int count, char **arguments, uint64_t &calls, uint64_t &seed) {
  for (int i = 1; i + 1 < count; i += 2) {
    char *end = nullptr;
    const uint64_t value = std::strtoull(arguments[i + 1], &end, 10);
    if (*end != '\0' || (std::strcmp(arguments[i], "--calls") != 0 && std::strcmp(arguments[i], "--seed") != 0))
      return false;
    (std::strcmp(arguments[i], "--calls") == 0 ? calls : seed) = value;
  }
  return count % 2 == 1;
}

} // namespace

int main(int count, char **arguments) {
  uint64_t wanted = 1000000, seed = 1;
  if (!parse(count, arguments, wanted, seed)) {
    std::fprintf(stderr, "usage: select-adversary [--calls N] [--seed S]\n");
    return 2;
  }
  uint64_t calls = 0, choices = 0, exchanges = 0, samples = 0, waits = 0, aborts = 0, episodes = 0;
  while (calls < wanted) {
    const Report report = search(makeEpisode(episodes, seed, 5000));
    if (const std::string failure = findFailure(report); !failure.empty()) {
      std::printf("episode %llu: %s\n", static_cast<unsigned long long>(episodes), failure.c_str());
      return 1;
    }
    ++episodes;
    calls += *std::min_element(report.calls.begin(), report.calls.end());
    for (const uint64_t made : report.calls)
      choices += made;
    exchanges += report.exchanges, samples += report.samples, waits += report.waits;
    aborts += report.errors[0] == "aborted";
  }
  std::printf(
      "%llu calls of 2 to 8 ranks on %llu communicators, %llu of them aborted; %llu choices, %llu exchanges, %llu "
      "samples, %llu waits; no disagreement\n",
      static_cast<unsigned long long>(calls), static_cast<unsigned long long>(episodes),
      static_cast<unsigned long long>(aborts), static_cast<unsigned long long>(choices),
      static_cast<unsigned long long>(exchanges), static_cast<unsigned long long>(samples),
      static_cast<unsigned long long>(waits));
}
