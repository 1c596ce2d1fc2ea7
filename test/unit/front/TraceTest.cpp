// SPDX-License-Identifier: Apache-2.0
// Runs random chunk operations in gc3c and in a simulation that stores the contents of each chunk as a multiset. Both
// must agree on whether the program fulfils its postcondition.
#include "Front.h"
#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace gc3;

namespace {

using Contents = std::map<std::pair<unsigned, unsigned>, uint64_t>; // maps (rank, index) to the number of occurrences

/// Makes random operations for an out-of-place AllReduce of `ranks` ranks and `chunks` chunks, and simulates them.
/// Buffers: 0 input, 1 output, 2 scratch.
class Simulation {
public:
  Simulation(unsigned rankCount, unsigned chunkCount, unsigned seed)
      : ranks(rankCount), chunks(chunkCount), random(seed) {
    for (unsigned r = 0; r < ranks; ++r)
      for (unsigned c = 0; c < chunks; ++c)
        slots[{r, 0, c}] = {{{r, c}, 1}};
  }

  std::string step() {
    auto source = std::next(slots.begin(), static_cast<long>(random() % slots.size()));
    Key from = source->first;
    Key to = {pick(ranks), pick(3), pick(chunks)};
    bool exists = slots.count(to) != 0;
    if (from == to)
      return "";
    if (exists && pick(2) == 0) {
      for (auto [chunk, times] : Contents(slots[from]))
        slots[to][chunk] += times;
      return "    " + ref(to) + ".reduce(" + ref(from) + ");\n";
    }
    Contents copy = slots[from];
    slots[to] = copy;
    return "    " + ref(from) + ".copy(" + place(to) + ");\n";
  }

  bool isAllReduce() {
    for (unsigned r = 0; r < ranks; ++r) {
      for (unsigned c = 0; c < chunks; ++c) {
        Contents wanted;
        for (unsigned q = 0; q < ranks; ++q)
          wanted[{q, c}] = 1;
        auto slot = slots.find({r, 1, c});
        if (slot == slots.end() || slot->second != wanted)
          return false;
      }
    }
    return true;
  }

  /// Returns statements that complete the AllReduce correctly, through unused scratch chunks.
  std::string finish() {
    std::string text;
    for (unsigned c = 0; c < chunks; ++c) {
      std::string name = "sum" + std::to_string(c);
      text += "    var " + name + " = chunk(0, input, " + std::to_string(c) + ").copy(0, scratch, " +
              std::to_string(100 + c) + ");\n";
      for (unsigned q = 1; q < ranks; ++q)
        text += "    " + name + " = " + name + ".reduce(chunk(" + std::to_string(q) + ", input, " + std::to_string(c) +
                "));\n";
      for (unsigned r = 0; r < ranks; ++r)
        text += "    " + name + ".copy(" + std::to_string(r) + ", output, " + std::to_string(c) + ");\n";
    }
    return text;
  }

  bool inputsUntouched() {
    for (unsigned r = 0; r < ranks; ++r)
      for (unsigned c = 0; c < chunks; ++c)
        if (slots[{r, 0, c}] != Contents{{{r, c}, 1}})
          return false;
    return true;
  }

private:
  using Key = std::tuple<unsigned, unsigned, unsigned>; // rank, buffer, index

  unsigned pick(unsigned n) { return static_cast<unsigned>(random() % n); }
  static std::string place(const Key &key) {
    static constexpr const char *names[] = {"input", "output", "scratch"};
    auto [rank, buffer, index] = key;
    return std::to_string(rank) + ", " + names[buffer] + ", " + std::to_string(index);
  }
  static std::string ref(const Key &key) { return "chunk(" + place(key) + ")"; }

  unsigned ranks, chunks;
  std::mt19937_64 random;
  std::map<Key, Contents> slots;
};

std::string program(unsigned ranks, unsigned chunks, const std::string &body) {
  return "program p implements allreduce(ranks = " + std::to_string(ranks) + ", chunks = " + std::to_string(chunks) +
         ") {\n" + body + "}\n";
}

} // namespace

TEST(Trace, RandomTracesAgreeWithMultisets) {
  unsigned correct = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    unsigned ranks = 1 + seed % 4, chunks = 1 + seed % 3;
    Simulation simulation(ranks, chunks, seed);
    std::string body;
    for (unsigned i = 0; i < seed % 40; ++i)
      body += simulation.step();
    bool finishes = seed % 2 == 0;
    bool expected = finishes ? simulation.inputsUntouched() : simulation.isAllReduce();
    if (finishes)
      body += simulation.finish();
    test::Outcome outcome = test::analyze(program(ranks, chunks, body));
    EXPECT_EQ(outcome.good, expected) << program(ranks, chunks, body) << outcome.printed;
    for (const Diagnostic &diagnostic : outcome.diagnostics)
      EXPECT_EQ(diagnostic.id, DiagId::Postcondition) << outcome.printed;
    correct += outcome.good;
  }
  EXPECT_GT(correct, 10u);
}

TEST(Trace, DoublingDoesNotExplode) {
  std::string body =
      "    var a = chunk(0, input, 0).copy(0, scratch, 0);\n    for i in 0..200 {\n"
      "        let b = a.copy(0, scratch, 1);\n        a = a.reduce(b);\n    }\n    a.copy(0, output, 0);\n";
  test::Outcome outcome = test::analyze(program(1, 1, body));
  ASSERT_FALSE(outcome.good);
  EXPECT_NE(outcome.printed.find("input(0, 0) counted at least 18446744073709551615 times"), std::string::npos)
      << outcome.printed;
}

TEST(Trace, AFullTurnOfTheHashIsNoMatch) {
  // Hashes are sums modulo 2^64, so 2^64 + 1 copies of a chunk have the same hash as one copy. Only the number of
  // contributions differs.
  std::string body = "    var a = chunk(0, input, 0).copy(0, scratch, 0);\n    for i in 0..64 {\n"
                     "        let b = a.copy(0, scratch, 1);\n        a = a.reduce(b);\n    }\n"
                     "    a.reduce(chunk(0, input, 0)).copy(0, output, 0);\n";
  EXPECT_FALSE(test::analyze(program(1, 1, body)).good);
}

TEST(Trace, PostconditionsAreCompact) {
  test::Outcome outcome =
      test::analyze("param R: int = 32;\nprogram p implements allreduce(ranks = R, chunks = 64, inplace = true) {\n"
                    "  for r in 1..R { chunk(0, input, 0, 64).reduce(chunk(r, input, 0, 64)); }\n"
                    "  for r in 1..R { chunk(0, input, 0, 64).copy(r, input, 0); }\n}\n");
  ASSERT_TRUE(outcome.good) << outcome.printed;
  const ir::Postcondition &post = outcome.programs[0].info->collective.post;
  EXPECT_EQ(post.valueCount(), 64u);
  EXPECT_EQ(post.runs.size(), 64u);
  EXPECT_EQ(post.rows.size(), 64u);
  EXPECT_EQ(post.rowOfRank.size(), 32u);
  EXPECT_EQ(post.contributions(0), 32u);
}
