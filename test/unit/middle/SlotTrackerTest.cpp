// SPDX-License-Identifier: Apache-2.0
// Compares the dependencies that SlotTracker finds with a simple model, which has a list of readers for each slot.
#include "gc3/IR/SlotTracker.h"
#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace gc3::ir;

namespace {

/// Implements the rules for each slot separately.
class Model {
public:
  explicit Model(uint32_t slots) : states(slots) {}

  void read(uint32_t first, uint32_t count) {
    for (uint32_t slot = first; slot != first + count; ++slot) {
      if (states[slot].writer != SlotTracker::NoEntry)
        edges[states[slot].writer] = false;
      states[slot].readers.push_back(node);
    }
  }

  void write(uint32_t first, uint32_t count) {
    for (uint32_t slot = first; slot != first + count; ++slot) {
      State &state = states[slot];
      bool others = false;
      for (uint32_t reader : state.readers) {
        if (reader == node)
          continue;
        edges.try_emplace(reader, true);
        others = true;
      }
      if (!others && state.writer != SlotTracker::NoEntry)
        edges.try_emplace(state.writer, true);
      state = {node, {}};
    }
  }

  std::map<uint32_t, bool> endNode() {
    ++node;
    return std::exchange(edges, {});
  }

private:
  struct State {
    uint32_t writer = SlotTracker::NoEntry;
    std::vector<uint32_t> readers;
  };
  std::vector<State> states;
  std::map<uint32_t, bool> edges; // maps a node to true if the dependency on it is false
  uint32_t node = 0;
};

} // namespace

/// Returns the edges of a node: maps each node that it depends on to true if the dependency is false.
static std::map<uint32_t, bool> edgesOf(const Dependencies &dependencies, uint32_t node) {
  std::map<uint32_t, bool> edges;
  for (uint32_t i = dependencies.begin[node]; i != dependencies.begin[node + 1]; ++i)
    EXPECT_TRUE(edges.try_emplace(dependencies.edges[i].node(), dependencies.edges[i].isFalse()).second) << "twice";
  return edges;
}

TEST(SlotTracker, AgreesWithTheRules) {
  constexpr uint32_t slots = 24;
  constexpr uint32_t nodes = 400;
  for (unsigned seed = 0; seed != 200; ++seed) {
    std::mt19937 random(seed);
    auto below = [&](uint32_t bound) { return static_cast<uint32_t>(random() % bound); };
    SlotTracker tracker(slots);
    Model model(slots);
    std::vector<std::map<uint32_t, bool>> expected;
    uint32_t writes = 1 + below(6); // one in this many nodes writes
    for (uint32_t node = 0; node != nodes; ++node) {
      for (uint32_t reads = below(3); reads != 0; --reads) {
        uint32_t first = below(slots), count = 1 + below(slots - first);
        tracker.read(first, count);
        model.read(first, count);
      }
      if (below(writes) == 0) {
        uint32_t first = below(slots), count = 1 + below(slots - first);
        tracker.write(first, count);
        model.write(first, count);
      }
      tracker.endNode();
      expected.push_back(model.endNode());
    }
    Dependencies dependencies = tracker.take();
    for (uint32_t node = 0; node != nodes; ++node)
      ASSERT_EQ(edgesOf(dependencies, node), expected[node]) << "seed " << seed << ", node " << node;
  }
}

/// The tracker stores the readers of a run of slots once, not for each slot.
TEST(SlotTracker, SharesListsOfReaders) {
  constexpr uint32_t slots = 1000;
  SlotTracker tracker(slots);
  for (int node = 0; node != 100; ++node) {
    tracker.read(0, slots);
    tracker.endNode();
  }
  EXPECT_LE(tracker.links(), 101u);
  tracker.read(0, slots / 2);
  tracker.endNode();
  EXPECT_LE(tracker.links(), 102u);
}

TEST(SlotTracker, UsesListsAgain) {
  constexpr uint32_t slots = 10;
  SlotTracker tracker(slots);
  for (uint32_t round = 0; round != 100; ++round) {
    for (uint32_t node = 0; node != 20; ++node) {
      tracker.read(node % 5, 5);
      tracker.endNode();
    }
    for (uint32_t slot = 0; slot != slots; ++slot)
      tracker.write(slot, 1);
    tracker.endNode();
  }
  uint64_t links = tracker.links();
  EXPECT_LT(links - tracker.take().edges.size(), 200u) << "as many as in one round";
}
