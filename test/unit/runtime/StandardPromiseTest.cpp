// SPDX-License-Identifier: Apache-2.0
// Tests which programs a standard call accepts: those that promise what the standard collective promises. Other
// programs for a collective of the same name are rejected.
#include "Programs.h"
#include "gc3.h"

#include <functional>
#include <gtest/gtest.h>

using namespace gc3::test;

namespace {

constexpr uint32_t ranks = 3, chunks = 2, root = 1;

struct Standard {
  const char *name;
  bool wideInput, wideOutput, inputOnRoot, outputOnRoot;
  std::function<Value(uint32_t rank, uint32_t block, uint32_t chunk)> wanted;
};

Value everybodys(uint32_t index) {
  return {{0, index}, {1, index}, {2, index}};
}

/// The promises of std/collectives.gc3.
const Standard all[] = {
    {"allreduce", false, false, false, false, [](auto, auto, uint32_t c) { return everybodys(c); }},
    {"allgather", false, true, false, false,
     [](auto, uint32_t b, uint32_t c) {
       return Value{{b, c}};
     }},
    {"reduce_scatter", true, false, false, false,
     [](uint32_t r, auto, uint32_t c) { return everybodys(r * chunks + c); }},
    {"alltoall", true, true, false, false,
     [](uint32_t r, uint32_t b, uint32_t c) {
       return Value{{b, r * chunks + c}};
     }},
    {"broadcast", false, false, true, false,
     [](auto, auto, uint32_t c) {
       return Value{{root, c}};
     }},
    {"reduce", false, false, false, true, [](auto, auto, uint32_t c) { return everybodys(c); }},
    {"gather", false, true, false, true,
     [](auto, uint32_t b, uint32_t c) {
       return Value{{b, c}};
     }},
    {"scatter", true, false, true, false,
     [](uint32_t r, auto, uint32_t c) {
       return Value{{root, r * chunks + c}};
     }},
};

/// Returns a program that makes these promises. It has no steps, because the tests do not run it.
ProgramSpec programOf(const Standard &standard) {
  ProgramSpec spec;
  spec.name = "made";
  spec.collective = standard.name;
  spec.inputChunks = spec.outputChunks = chunks;
  for (uint32_t r = 0; r != ranks; ++r) {
    Rank rank;
    rank.inputSlots = standard.inputOnRoot && r != root ? 0 : (standard.wideInput ? ranks : 1) * chunks;
    rank.outputSlots = standard.outputOnRoot && r != root ? 0 : (standard.wideOutput ? ranks : 1) * chunks;
    std::vector<Value> row;
    for (uint32_t i = 0; i != rank.outputSlots; ++i)
      row.push_back(standard.wanted(r, i / chunks, i % chunks));
    spec.ranks.push_back(rank);
    spec.outputs.push_back(row);
  }
  return spec;
}

/// Returns the result of selecting a program for a call of the collective of `spec`, by name.
gc3Result_t select(const ProgramSpec &spec, int rootOfCall, bool allowUnproven = false) {
  std::string bytes = buildBundle({spec});
  gc3Bundle_t bundle = nullptr;
  EXPECT_EQ(gc3BundleLoadMemory(&bundle, bytes.data(), bytes.size()), gc3Success);
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  config.allowUnproven = allowUnproven;
  std::vector<gc3Comm_t> comms(spec.ranks.size());
  EXPECT_EQ(gc3HostCommInitAll(comms.data(), static_cast<int>(comms.size()), bundle, &config), gc3Success);
  const char *program = nullptr;
  gc3Result_t result = gc3SelectProgram(comms[0], spec.collective.c_str(), 8, gc3Float32, rootOfCall, &program);
  EXPECT_EQ(result == gc3Success, program != nullptr);
  for (gc3Comm_t comm : comms)
    gc3CommDestroy(comm);
  gc3BundleFree(bundle);
  return result;
}

gc3Result_t select(const Standard &standard, const ProgramSpec &spec, bool allowUnproven = false) {
  bool rooted = standard.inputOnRoot || standard.outputOnRoot;
  return select(spec, rooted ? static_cast<int>(root) : -1, allowUnproven);
}

} // namespace

TEST(StandardPromise, AcceptsTheStandardPromise) {
  for (const Standard &standard : all)
    EXPECT_EQ(select(standard, programOf(standard)), gc3Success) << standard.name;
}

TEST(StandardPromise, theOrderOfContributionsDoesNotMatter) {
  ProgramSpec spec = programOf(all[0]);
  spec.outputs[2][1] = {{2, 1}, {0, 1}, {1, 1}};
  EXPECT_EQ(select(spec, -1), gc3Success);
}

TEST(StandardPromise, aDifferenceInAnyOutputChunkIsRefused) {
  for (const Standard &standard : all) {
    const ProgramSpec right = programOf(standard);
    for (uint32_t r = 0; r != ranks; ++r)
      for (uint32_t i = 0; i != right.outputs[r].size(); ++i) {
        const Value &wanted = right.outputs[r][i];
        Value otherChunk = wanted, twice = wanted, otherRank = wanted, fewer(wanted.begin() + 1, wanted.end());
        otherChunk[0].second ^= 1;
        otherRank[0].first = (wanted[0].first + 1) % ranks; // a sum now has one contribution twice, another never
        twice.push_back(wanted[0]);
        for (const Value &wrong : {otherChunk, otherRank, twice, fewer, Value{}}) {
          ProgramSpec spec = right;
          spec.outputs[r][i] = wrong;
          EXPECT_EQ(select(standard, spec), gc3BundleUnproven) << standard.name << " " << r << " " << i;
          EXPECT_EQ(std::string(gc3GetLastError(nullptr)),
                    "program 'made' does not promise what '" + std::string(standard.name) + "' does: output chunk " +
                        std::to_string(i) + " of rank " + std::to_string(r) +
                        " may hold another value; give its collective another name, or set GC3_ALLOW_UNPROVEN=1");
        }
      }
  }
}

TEST(StandardPromise, rowsOfOtherLengthsAreRefused) {
  for (bool longer : {false, true}) {
    ProgramSpec spec = programOf(all[0]);
    if (longer)
      spec.outputs[1].push_back(everybodys(0));
    else
      spec.outputs[1].pop_back();
    EXPECT_EQ(select(spec, -1), gc3BundleUnproven);
  }
}

TEST(StandardPromise, onOneRankASumIsACopy) {
  ProgramSpec spec = programOf(all[0]);
  spec.ranks.resize(1);
  spec.outputs = {{Value{{0, 0}}, Value{{0, 1}}}};
  for (const char *name : {"allreduce", "allgather", "reduce_scatter", "alltoall"}) {
    spec.collective = name;
    EXPECT_EQ(select(spec, -1), gc3Success) << name;
  }
}

TEST(StandardPromise, unprovenProgramsAreAllowedOnDemand) {
  ProgramSpec spec = programOf(all[0]);
  spec.outputs[0][0] = {{0, 0}};
  EXPECT_EQ(select(spec, -1), gc3BundleUnproven);
  EXPECT_EQ(select(spec, -1, true), gc3Success);
}

TEST(StandardPromise, customCollectivesPromiseAnything) {
  ProgramSpec spec = programOf(all[0]);
  spec.outputs[0][0] = {{0, 0}};
  spec.collective = "own";
  EXPECT_EQ(select(spec, -1), gc3Success);
}
