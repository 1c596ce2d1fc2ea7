// SPDX-License-Identifier: Apache-2.0
// The adversarial scheduler. It scans a list of the unfinished thread blocks for the first one that can step. Policies
// differ in the order of the list, in the starting point of the scan, and in the position to which a thread block moves
// after its step. A step costs at most one scan, which takes O(thread blocks) time.
#include "host/Executor.h"
#include "host/Random.h"

#include <algorithm>

namespace gc3::host {

namespace {

class Adversary {
public:
  Adversary(Run &started, std::span<const uint32_t> ranks, uint64_t seed) : run(started), random(seed) {
    for (const uint32_t rank : ranks)
      for (uint32_t b = run.program().firstThreadBlock(rank); b < run.program().firstThreadBlock(rank + 1); ++b)
        order.push_back(b);
    dropFinished();
  }

  bool operator()(const std::function<bool()> &mayWait) {
    while (!order.empty()) {
      if (stepsLeft-- == 0)
        changePolicy();
      size_t at = findRunnable();
      if (at == order.size()) {
        if (dropFinished() == 0 && !mayWait()) // a block ends when the receiver has fetched its last message
          return false;
        continue;
      }
      ThreadBlockState &block = run.threadBlocks()[order[at]];
      run.step(block);
      if (run.blocked(block) == Blocked::Finished)
        order.erase(order.begin() + static_cast<ptrdiff_t>(at));
      else
        rearrange(at);
    }
    return true;
  }

private:
  enum class Policy : uint8_t { Uniform, FixedPriorities, NewestFirst, OldestFirst };

  size_t dropFinished() {
    return std::erase_if(order, [this](uint32_t b) { return run.blocked(run.threadBlocks()[b]) == Blocked::Finished; });
  }

  void changePolicy() {
    policy = static_cast<Policy>(random.below(4));
    stepsLeft = 1 + random.below(1 + 16 * order.size());
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random.below(i)]);
  }

  /// Returns the position of the first thread block that can step, or the list's size.
  size_t findRunnable() {
    size_t start = policy == Policy::Uniform ? random.below(order.size()) : 0;
    for (size_t i = 0; i < order.size(); ++i) {
      size_t at = start + i < order.size() ? start + i : start + i - order.size();
      if (run.blocked(run.threadBlocks()[order[at]]) == Blocked::No)
        return at;
    }
    return order.size();
  }

  void rearrange(size_t at) {
    auto here = order.begin() + static_cast<ptrdiff_t>(at);
    switch (policy) {
    case Policy::Uniform:
    case Policy::FixedPriorities: break;
    case Policy::NewestFirst: std::rotate(order.begin(), here, here + 1); break;
    case Policy::OldestFirst: std::rotate(here, here + 1, order.end()); break;
    }
  }

  Run &run;
  Random random;
  std::vector<uint32_t> order;
  Policy policy = Policy::Uniform;
  uint64_t stepsLeft = 0;
};

} // namespace

bool runAdversarial(Run &run, std::span<const uint32_t> ranks, uint64_t seed, const std::function<bool()> &mayWait) {
  return Adversary(run, ranks, seed)(mayWait);
}

} // namespace gc3::host
