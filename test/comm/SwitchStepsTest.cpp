// SPDX-License-Identifier: Apache-2.0
// Tests which steps of a program the switch can execute.
#include "plan/SwitchSteps.h"
#include "LoopbackSupport.h"
#include "Programs.h"

#include <algorithm>
#include <array>

using namespace gc3;
using namespace gc3::test;
using plan::SwitchSteps;
using Data = SwitchSteps::Data;

namespace {

/// The number of steps that move their data in each way.
struct Counts {
  uint32_t reduced = 0, shared = 0, arrived = 0, nothing = 0, ordinary = 0;
  bool operator==(const Counts &) const = default;
};

std::ostream &operator<<(std::ostream &out, const Counts &counts) {
  return out << counts.reduced << " reduced, " << counts.shared << " shared, " << counts.arrived << " arrived, "
             << counts.nothing << " nothing, " << counts.ordinary << " ordinary";
}

/// Returns the counts of a program; all 0 if it does not use the switch. Each rank is in the team of its number divided
/// by `teamSize`.
Counts countsOf(const ProgramSpec &spec, uint32_t teamSize = 100) {
  const std::unique_ptr<bundle::BundleFile> file = open({spec});
  std::unique_ptr<core::Program> program;
  EXPECT_TRUE(core::Program::load(*file, 0).moveTo(program).ok());
  std::vector<uint32_t> teams;
  for (uint32_t rank = 0; rank < program->ranks(); ++rank)
    teams.push_back(rank / teamSize);
  const SwitchSteps found = SwitchSteps::find(*program, core::HappensBefore(*program), teams);
  Counts counts;
  for (uint32_t step = 0; found.any() && step < program->firstStep(program->ranks()); ++step)
    switch (found.of(step).data) {
    case Data::Reduced: ++counts.reduced; break;
    case Data::Shared: ++counts.shared; break;
    case Data::Arrived: ++counts.arrived; break;
    case Data::Nothing: ++counts.nothing; break;
    case Data::Ordinary: ++counts.ordinary; break;
    }
  return counts;
}

/// In a ring, each rank reduces one chunk of all ranks, and stores it to them. No step moves data in another way.
TEST(SwitchSteps, ServeARing) {
  for (uint32_t ranks : {2u, 3u, 5u})
    for (uint32_t subdivision : {1u, 2u}) {
      const uint32_t others = ranks - 1;
      EXPECT_EQ(countsOf(ringAllReduce(ranks, true, subdivision)),
                (Counts{.shared = ranks, .arrived = ranks * others, .nothing = ranks * others}));
    }
}

/// Only outputs are accessible over the switch, so programs with separate inputs do not use it. Programs that reduce
/// nothing, or only partly, do not use it either.
TEST(SwitchSteps, AreOnlyForSumsOfOutputs) {
  for (const ProgramSpec &spec : {ringAllReduce(4, false), plainRingAllReduce(3), allToAll(3, 2), allGather(4, true),
                                  reduceScatter(3, false), reduceScatter(3, true), broadcast(4, 1), reduceTo(4, 2),
                                  gather(3, 0), scatter(3, 2), shiftReversed(3, 2), swapInPlace(), sumToShorterChunk()})
    EXPECT_EQ(countsOf(spec), Counts()) << spec.name;
}

/// The switch reaches only one team. In a ring over two teams, the last rank of a team loads a partial sum.
TEST(SwitchSteps, ServeOneTeam) {
  EXPECT_EQ(countsOf(ringAllReduce(4, true), 2), (Counts{.reduced = 2, .nothing = 2, .ordinary = 24}));
  EXPECT_EQ(countsOf(ringAllReduce(4, true), 1), Counts());
}

/// Ranks 0 and 1 add up their outputs. Then `tail` follows on each rank.
ProgramSpec pairSum(const std::vector<StepSpec> &tail0, const std::vector<StepSpec> &tail1) {
  ProgramSpec spec = ringAllReduce(2, true);
  spec.name = "pair";
  spec.scratchNames = {"s"};
  std::vector<std::vector<StepSpec>> steps{{{Opcode::Send, in(0), {}, 1, {}}},
                                           {{Opcode::RecvReduceCopy, in(0), out(0), 1, {}}}};
  for (const StepSpec &step : tail0)
    steps[0].push_back(step);
  for (const StepSpec &step : tail1)
    steps[1].push_back(step);
  for (uint32_t rank : {0u, 1u}) {
    spec.ranks[rank].blocks = {{static_cast<int32_t>(1 - rank), static_cast<int32_t>(1 - rank), 0, steps[rank]}};
    spec.ranks[rank].scratchSlots = {1};
  }
  return spec;
}

const StepSpec sendSum{Opcode::Send, in(0), {}, 1, {}}, receiveSum{Opcode::Recv, {}, out(0), 1, {}};

TEST(SwitchSteps, ShareASumThatAllRanksKeep) {
  EXPECT_EQ(countsOf(pairSum({receiveSum}, {sendSum})), (Counts{.shared = 1, .arrived = 1, .nothing = 2}));
}

/// Without a message after the sum, rank 0 could end while the switch reads its output.
TEST(SwitchSteps, KeepTheirRanksRunning) {
  EXPECT_EQ(countsOf(pairSum({}, {})), Counts());
}

/// Rank 0 overwrites its output as soon as it has sent it.
TEST(SwitchSteps, LoadNoOverwrittenSlot) {
  const StepSpec overwrite{Opcode::Copy, in(1), out(0), 1, {}};
  EXPECT_EQ(countsOf(pairSum({overwrite, receiveSum}, {sendSum})), Counts());
}

/// Rank 1 adds up the first two slots, and keeps the sums in the second and the third. The threads of a step do not
/// wait for each other, so one could store into the second slot before another has loaded it.
TEST(SwitchSteps, LoadNoSlotThatTheSameStepOverwrites) {
  const Opcode receive = Opcode::RecvReduceCopy;
  const auto sum = [&](Slot to) {
    ProgramSpec spec = pairSum({}, {});
    spec.inputChunks = spec.outputChunks = 3, spec.maxCount = 2;
    for (Rank &rank : spec.ranks)
      rank.inputSlots = rank.outputSlots = 3, rank.scratchSlots = {2};
    spec.ranks[0].blocks[0].steps = {{Opcode::Send, in(0), {}, 2, {}}, {Opcode::Recv, {}, scratch(0), 2, {}}};
    spec.ranks[1].blocks[0].steps = {{Opcode::Copy, in(0), scratch(0), 2, {}},
                                     {receive, scratch(0), to, 2, {}},
                                     {Opcode::Send, scratch(0), {}, 2, {}}};
    return countsOf(spec);
  };
  EXPECT_EQ(sum(out(0)), (Counts{.reduced = 1, .nothing = 4}));
  EXPECT_EQ(sum(out(1)), Counts());
}

/// Rank 0 reads its output between the sum and its arrival, so the switch must not store the sum there. It can still
/// reduce.
TEST(SwitchSteps, StoreIntoNoSlotInUse) {
  const StepSpec use{Opcode::Copy, in(0), scratch(0), 1, {}}, keep{Opcode::Copy, scratch(0), out(1), 1, {}};
  EXPECT_EQ(countsOf(pairSum({use, receiveSum, keep}, {sendSum})), (Counts{.reduced = 1, .nothing = 1, .ordinary = 4}));
}

/// Rank 0 receives the sum from another thread block of rank 1 than the one that keeps it. So it does not wait until
/// the latter has stored it.
TEST(SwitchSteps, StoreNothingThatOthersSend) {
  ProgramSpec spec = pairSum({}, {});
  spec.ranks[0].blocks = {{1, 1, 0, {{Opcode::Send, in(0), {}, 1, {}}, {Opcode::Recv, {}, scratch(0), 1, {}}}},
                          {1, 1, 1, {{Opcode::Send, in(0), {}, 1, {}}, {Opcode::Recv, {}, out(1), 1, {}}}}};
  spec.ranks[1].blocks = {{0, 0, 0, {{Opcode::RecvReduceCopy, in(0), out(1), 1, {}}, {Opcode::Send, in(0), {}, 1, {}}}},
                          {0, 0, 1, {{Opcode::RecvReduceSend, in(0), {}, 1, {}}}}};
  EXPECT_EQ(countsOf(spec), (Counts{.reduced = 2, .nothing = 4, .ordinary = 1}));
}

/// Rank 0 receives the sum in another slot, so it is not the same slot of all outputs.
TEST(SwitchSteps, StoreIntoTheSameSlot) {
  const StepSpec elsewhere{Opcode::Recv, {}, out(1), 1, {}};
  EXPECT_EQ(countsOf(pairSum({elsewhere}, {sendSum})), (Counts{.reduced = 1, .nothing = 1, .ordinary = 2}));
}

} // namespace
