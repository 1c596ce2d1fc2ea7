// SPDX-License-Identifier: Apache-2.0
// Tests which messages need no slots: in one launch of all ranks, and if each rank has its own launch.
#include "plan/DirectMessages.h"
#include "BundleBuilder.h"
#include "Programs.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <optional>
#include <set>

using namespace gc3;
using namespace gc3::test;
using plan::DirectMessages;

namespace {

class Analysed {
public:
  explicit Analysed(const ProgramSpec &spec) : bytes(buildBundle({spec})) {
    EXPECT_TRUE(bundle::BundleFile::openMemory(bytes.data(), bytes.size()).moveTo(file).ok());
    EXPECT_TRUE(core::Program::load(*file, 0).moveTo(program).ok());
    transfers = core::Transfers::asWritten(*program, core::HappensBefore(*program));
  }

  DirectMessages inOneLaunch() const { return DirectMessages::inOneLaunch(*program, *transfers); }
  DirectMessages betweenLaunches(const std::vector<uint32_t> &teams) const {
    return DirectMessages::betweenLaunches(*program, *transfers, teams);
  }
  /// All ranks are in one team.
  DirectMessages betweenLaunches() const { return betweenLaunches(std::vector<uint32_t>(program->ranks())); }

  uint32_t steps() const { return program->firstStep(program->ranks()); }

  /// Checks that the messages, their receivers and the peers fit together.
  void expectConsistent(const DirectMessages &direct) const {
    uint32_t sends = 0, arrivals = 0;
    for (uint32_t step = 0; step < steps(); ++step) {
      arrivals += direct.arrives(step);
      const uint32_t receiver = direct.receiver(step);
      if (receiver == DirectMessages::none)
        continue;
      ++sends;
      EXPECT_TRUE(direct.arrives(receiver));
      const std::span<const uint32_t> peers = direct.peers(program->rankOfStep(step));
      ASSERT_GE(direct.memory(step), 1u);
      ASSERT_LE(direct.memory(step), peers.size());
      EXPECT_EQ(peers[direct.memory(step) - 1u], program->rankOfStep(receiver));
    }
    EXPECT_EQ(sends, direct.count());
    EXPECT_EQ(arrivals, direct.count());
    for (uint32_t rank = 0; rank < program->ranks(); ++rank) {
      const std::span<const uint32_t> peers = direct.peers(rank);
      EXPECT_EQ(std::set(peers.begin(), peers.end()).size(), peers.size()) << "a peer has one index";
    }
  }

  std::string bytes;
  std::unique_ptr<bundle::BundleFile> file;
  std::unique_ptr<core::Program> program;
  std::optional<core::Transfers> transfers;
};

std::vector<uint32_t> peersOf(const DirectMessages &direct, uint32_t rank) {
  const std::span<const uint32_t> peers = direct.peers(rank);
  return {peers.begin(), peers.end()};
}

} // namespace

TEST(DirectMessages, areNoneByDefault) {
  const DirectMessages none;
  EXPECT_EQ(none.count(), 0u);
  EXPECT_EQ(none.receiver(0), DirectMessages::none);
  EXPECT_FALSE(none.arrives(0));
  EXPECT_TRUE(none.peers(0).empty());
  EXPECT_FALSE(none.dependOnCall());
}

/// In one launch, the index of a rank's memory is the rank. All messages are direct in all calls.
TEST(DirectMessages, inOneLaunch) {
  const Analysed analysed(allToAll(3, 1));
  const DirectMessages direct = analysed.inOneLaunch();
  EXPECT_EQ(direct.count(), 6u);
  EXPECT_FALSE(direct.dependOnCall());
  for (uint32_t step = 0; step < analysed.steps(); ++step)
    if (const uint32_t receiver = direct.receiver(step); receiver != DirectMessages::none) {
      EXPECT_EQ(direct.memory(step), analysed.program->rankOfStep(receiver));
    }
  EXPECT_TRUE(direct.peers(0).empty());
}

/// Scratch is private memory of a rank.
TEST(DirectMessages, betweenLaunchesGoIntoOutputsOnly) {
  const Analysed gather(allGather(3, false)), scratch(plainRingAllReduce(3));
  EXPECT_EQ(gather.betweenLaunches().count(), gather.inOneLaunch().count());
  EXPECT_GT(scratch.inOneLaunch().count(), scratch.betweenLaunches().count());
  gather.expectConsistent(gather.betweenLaunches());
  scratch.expectConsistent(scratch.betweenLaunches());
}

/// A step that names an aliased buffer accesses the output if that contains the buffer.
TEST(DirectMessages, aliases) {
  for (uint32_t ranks : {2, 3}) {
    const Analysed gather(allGather(ranks, true)), ring(ringAllReduce(ranks, true));
    EXPECT_EQ(gather.betweenLaunches().count(), ranks * (ranks - 1));
    EXPECT_EQ(ring.betweenLaunches().count(), ring.inOneLaunch().count());
    gather.expectConsistent(gather.betweenLaunches());
    ring.expectConsistent(ring.betweenLaunches());
  }
  const Analysed swap(swapInPlace());
  EXPECT_EQ(swap.betweenLaunches().count(), 0u);
  EXPECT_FALSE(swap.betweenLaunches().dependOnCall());
}

TEST(DirectMessages, stayWithinTeams) {
  const Analysed analysed(allToAll(4, 1));
  const DirectMessages direct = analysed.betweenLaunches({0, 1, 0, 1});
  EXPECT_EQ(direct.count(), 4u);
  EXPECT_TRUE(direct.dependOnCall());
  for (uint32_t rank : {0, 1, 2, 3})
    EXPECT_EQ(peersOf(direct, rank), std::vector{(rank + 2) % 4});
  analysed.expectConsistent(direct);
  EXPECT_FALSE(analysed.betweenLaunches({0, 1, 2, 3}).dependOnCall());
}

/// The arguments of a launch have addresses for this rank, 30 peers and the switch. Messages to further peers have
/// slots.
TEST(DirectMessages, goToFewPeers) {
  constexpr uint32_t mostPeers = kernel::switchMemory - 1;
  for (uint32_t ranks : {kernel::maxRanksPerLaunch, kernel::maxRanksPerLaunch + 2}) {
    const Analysed analysed(allToAll(ranks, 1));
    const DirectMessages direct = analysed.betweenLaunches();
    EXPECT_EQ(direct.count(), ranks * mostPeers);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      std::vector<uint32_t> peers = peersOf(direct, rank);
      EXPECT_EQ(peers.size(), mostPeers);
      std::sort(peers.begin(), peers.end());
      EXPECT_EQ(std::unique(peers.begin(), peers.end()), peers.end());
      EXPECT_EQ(std::count(peers.begin(), peers.end(), rank), 0);
    }
    analysed.expectConsistent(direct);
  }
}
