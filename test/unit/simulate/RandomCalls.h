// SPDX-License-Identifier: Apache-2.0
// Random programs and topologies of 12 ranks, for tests of the simulator.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>

namespace gc3::simulate {

constexpr uint32_t randomRanks = 12;

class Random {
public:
  explicit Random(uint32_t seed) : engine(seed) {}
  /// Returns a number from `least` to `most`.
  uint32_t number(uint32_t least, uint32_t most) {
    return least + static_cast<uint32_t>(engine() % (most - least + 1));
  }
  bool coin() { return number(0, 1) != 0; }
  const char *choose(std::initializer_list<const char *> from) {
    return *(from.begin() + number(0, static_cast<uint32_t>(from.size()) - 1));
  }

private:
  std::mt19937 engine;
};

/// An AllToAll in which the block for the rank `d` further on goes by way of another rank. The way depends on the rank
/// modulo `period`. With a channel for each `d`, the schedule is as symmetric as the ways.
inline std::string randomAllToAll(Random &random, uint32_t period) {
  std::string source = "program p implements alltoall(ranks = 12) {\n  protocol " +
                       std::string(random.choose({"Simple", "LL", "LL128"})) + ";\n";
  const uint32_t channels = random.number(0, 3) == 0 ? 2 : randomRanks;
  const auto text = [](uint32_t number) { return std::to_string(number); };
  for (uint32_t place = 0; place < period; ++place)
    for (uint32_t d = 0; d < randomRanks; ++d) {
      source += "  for r in " + text(place) + "..12 { if r % " + text(period) + " == " + text(place) + " { channel (" +
                text(d % channels) + ") { chunk(r, input, (r + " + text(d) + ") % 12)";
      if (d != 0 && random.coin())
        source +=
            ".copy((r + " + text(random.number(1, randomRanks - 1)) + ") % 12, scratch, r * 12 + " + text(d) + ")";
      source += ".copy((r + " + text(d) + ") % 12, output, r); } } }\n";
    }
  return source + "}\n";
}

inline std::string randomAllReduce(Random &random) {
  return "import \"std/hierarchical.gc3\";\nprogram p implements allreduce(ranks = 12, chunks = 12, inplace = true) "
         "{\n  protocol " +
         std::string(random.choose({"Simple", "LL", "LL128"})) + ";\n  hierarchical_allreduce(0..12, [" +
         random.choose({"12", "2, 6", "6, 2", "4, 3", "3, 4", "2, 3, 2", "3, 2, 2"}) + "], input);\n}\n";
}

/// A topology of one or several switches, with or without links, trunks, memory and costs.
inline std::string randomTopology(Random &random) {
  std::string members = R"("ranks": 12, "switches": [)";
  if (random.coin())
    members += R"({"alpha": 0.5, "beta": 3, "ports": [0, 1, 2, 3]}, {"alpha": 0.5, "beta": 3, "ports": [4, 5, 6, 7]},
      {"alpha": 0.5, "beta": 3, "ports": [8, 9, 10, 11]}, )";
  const std::string kind = random.choose({"network", "nvswitch"});
  const char *ports = random.choose({R"(, "ports": [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10, 11]])",
                                     R"(, "bandwidth": 2, "trunk": {"ports": 4, "bandwidth": 5})", ""});
  members += R"({"kind": ")" + kind + R"(", "alpha": 2.5, "beta": 11)" + ports + "}]";
  return members + random.choose({"", R"(, "costs": {"launch": 3, "step": 0.3, "wait": 0.2, "memory": 300,
      "simple": {"copy": 90, "reduce": 50, "hop": {"nvswitch": 0.7}}, "ll": {"copy": 20}, "ll128": {"copy": 40}})",
                                  R"(, "costs": {"memory": 150})"});
}

} // namespace gc3::simulate
