// SPDX-License-Identifier: Apache-2.0
// Random calls have the times that an independent, naive simulation computes, and events and critical paths that fit.
#include "Compiled.h"
#include "NaiveEngine.h"
#include "RandomCalls.h"

using namespace gc3;
using namespace gc3::simulate;

namespace {

/// Returns a random time or rate between `least` and 16 times that, as JSON.
std::string figure(Random &random, double least) {
  return std::to_string(least * (1 + random.number(0, 1500) / 100.0));
}

/// Different costs of everything.
std::string randomCosts(Random &random) {
  std::string text = R"("costs": {"launch": )" + figure(random, 0.5) + R"(, "step": )" + figure(random, 0.05) +
                     R"(, "prepare": )" + figure(random, 0.01) + R"(, "wait": )" + figure(random, 0.5);
  if (random.coin())
    text += R"(, "memory": )" + figure(random, 20);
  for (const char *protocol : {"simple", "ll", "ll128"})
    text += std::string(", \"") + protocol + R"(": {"copy": )" + figure(random, 5) + R"(, "reduce": )" +
            figure(random, 3) + R"(, "grain": )" + figure(random, 30) + R"(, "hop": {"nvlink": )" +
            figure(random, 0.1) + "}}";
  return text + "}";
}

/// A link of its own for each pair of ranks, and some bounds.
std::string randomLinks(Random &random) {
  std::string links, bounds;
  for (uint32_t from = 0; from < randomRanks; ++from)
    for (uint32_t to = 0; to < randomRanks; ++to)
      if (from != to)
        links += (links.empty() ? "" : ", ") + std::string(R"({"from": )") + std::to_string(from) + R"(, "to": )" +
                 std::to_string(to) + R"(, "kind": ")" + random.choose({"nvlink", "nvlink", "network"}) +
                 R"(", "alpha": )" + figure(random, 0.1) + R"(, "beta": )" + figure(random, 10) + "}";
  for (uint32_t i = random.number(0, 3); i > 0; --i)
    bounds += (bounds.empty() ? "" : ", ") + std::string(R"({"from": )") + std::to_string(random.number(0, 5)) +
              R"(, "bandwidth": )" + std::to_string(random.number(1, 4)) + "}";
  return R"("ranks": 12, "links": [)" + links + R"(], "bounds": [)" + bounds + "], " + randomCosts(random);
}

/// Checks the order of a step's phases, and that what it waited for happened before.
void checkEvent(const Events &events, const Event &event) {
  constexpr double rounding = 1e-9;
  EXPECT_LE(event.ready, event.begin);
  EXPECT_LE(event.begin, event.end);
  if (event.sentBy != Event::NoEvent) {
    EXPECT_LE(events.all[event.sentBy].begin, event.ready + rounding);
    EXPECT_LE(events.all[event.sentBy].end, event.end + rounding);
  }
  if (event.cause == Cause::Launch)
    return;
  const Event &before = events.all[event.causedBy];
  EXPECT_LE(event.cause == Cause::Message ? before.begin : before.end, event.ready + rounding);
}

/// The parts of the critical path add up. Its steps lead from the launch to the end, and their begins are in order.
void checkPath(const Prediction &prediction) {
  const CriticalPath path = criticalPath(prediction);
  double sum = 0;
  for (const PathPart &part : path.parts)
    sum += part.time;
  EXPECT_NEAR(sum, prediction.time, 1e-9 * prediction.time);
  ASSERT_FALSE(path.steps.empty());
  EXPECT_EQ(path.steps.front().cause, Cause::Launch);
  for (size_t i = 1; i < path.steps.size(); ++i)
    EXPECT_LE(path.steps[i - 1].begin, path.steps[i].begin);
}

} // namespace

TEST(Naive, ComputesTheSameTimes) {
  uint64_t mostTiles = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Compiled program(random.coin() ? randomAllReduce(random) : randomAllToAll(random, random.number(1, 12)));
    const topology::Topology topology = parse(random.coin() ? randomTopology(random) : randomLinks(random));
    const Fabric fabric(topology);
    const Call call = program.call(random.number(1, 20000), 768 * random.number(2, 4), random.number(6, 9));
    Workload work;
    ASSERT_EQ(work.prepare(call, fabric, false), "");
    Prediction exact, usual;
    ASSERT_EQ(simulate::simulate(call, fabric, {.isExact = true, .recordEvents = true}, exact), "");
    ASSERT_EQ(simulate::simulate(call, fabric, {}, usual), "");
    const double expected = NaiveEngine(work).run();
    EXPECT_NEAR(exact.time, expected, 1e-9 * expected);
    EXPECT_NEAR(usual.time, expected, 0.02 * expected);
    for (const Event &event : exact.events.all)
      checkEvent(exact.events, event);
    checkPath(exact);
    mostTiles = std::max(mostTiles, exact.tiles);
  }
  EXPECT_GE(mostTiles, 10u);
}
