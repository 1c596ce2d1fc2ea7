// SPDX-License-Identifier: Apache-2.0
// LL128 requires links that do not tear its lines of 128 bytes. Tests programs for LL128 on links that tear lines.
#include "CommSupport.h"

using namespace gc3;
using namespace gc3::test;
using kernel::Protocol;

namespace {

cuda::Options strict() {
  cuda::Options options = smallOptions();
  options.strictLL128 = true;
  return options;
}

/// Returns the protocol under which a program runs. Checks that it is the same on all ranks.
Protocol protocolOf(const CommWorld &world, uint32_t program) {
  const Protocol first = world.ranks[0]->programs()->entry(program).sizes.protocol;
  for (const auto &rank : world.ranks)
    EXPECT_EQ(rank->programs()->entry(program).sizes.protocol, first);
  return first;
}

TEST(CommLines, WithoutNvlinkSimpleReplacesLL128) {
  for (bool nvlink : {true, false}) {
    FakeCuda fake;
    FakeNccl nccl(fake);
    fake.nvlink = nvlink;
    CommWorld world(fake, nccl, {under(Protocol::LL128, ringAllReduce(3, false))});
    ASSERT_EQ(world.joinProblem(), "");
    EXPECT_EQ(protocolOf(world, 0), nvlink ? Protocol::LL128 : Protocol::Simple);
    EXPECT_EQ(world.run(0, {.count = 50}), "");
  }
}

/// Only a link that the program uses makes it run under Simple. It is sufficient that one end of the link tears lines.
TEST(CommLines, OnlyLinksOfTheProgramCount) {
  for (auto [link, torn] : {std::pair(std::pair(2, 1), false), {{0, 3}, false}, {{3, 2}, true}, {{0, 1}, true}}) {
    FakeCuda fake;
    FakeNccl nccl(fake);
    fake.overPcie = {link};
    CommWorld world(fake, nccl, {under(Protocol::LL128, pairs(4)), ringAllReduce(4, false)});
    ASSERT_EQ(world.joinProblem(), "");
    EXPECT_EQ(protocolOf(world, 0), torn ? Protocol::Simple : Protocol::LL128) << link.first << " " << link.second;
    EXPECT_EQ(world.run(0, {.count = 50}), "");
    EXPECT_EQ(world.run(1, {.count = 50}), "");
  }
}

TEST(CommLines, ProgramsMayBeRefusedInstead) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  fake.overPcie = {{1, 2}};
  CommWorld world(fake, nccl,
                  {under(Protocol::LL128, ringAllReduce(4, false)), under(Protocol::LL128, pairs(4)),
                   under(Protocol::LL, ringAllReduce(4, true))},
                  strict());
  ASSERT_EQ(world.joinProblem(), "");
  EXPECT_EQ(world.run(0, {.count = 50}),
            "program 'ring4_1_2': ranks 1 and 2, which it connects, have no link that keeps "
            "lines of LL128 whole, and GC3_LL128 refuses another protocol");
  EXPECT_EQ(fake.launches, 0u);
  EXPECT_EQ(world.run(1, {.count = 50}), "");
  EXPECT_EQ(protocolOf(world, 1), Protocol::LL128);
  EXPECT_EQ(world.run(2, {.count = 50}), "") << "proven for another protocol";
}

/// If the user chooses Simple, GC3_LL128 does not refuse a program for LL128.
TEST(CommLines, SimpleIsNoReplacement) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  fake.nvlink = false;
  cuda::Options options = strict();
  options.simple = true;
  CommWorld world(fake, nccl, {under(Protocol::LL128, ringAllReduce(3, false))}, options);
  EXPECT_EQ(world.run(0, {.count = 50}), "");
  EXPECT_EQ(protocolOf(world, 0), Protocol::Simple);
}

/// Only messages under Simple can use a network, so a network counts as a link that tears lines.
TEST(CommLines, NetworksKeepNoLines) {
  for (bool refuses : {false, true}) {
    FakeCuda fake;
    FakeNccl nccl(fake);
    nccl.teamSize = 2;
    CommWorld world(fake, nccl, {under(Protocol::LL128, ringAllReduce(4, false))}, refuses ? strict() : smallOptions());
    ASSERT_EQ(world.joinProblem(), "");
    EXPECT_EQ(world.run(0, {.count = 50}),
              refuses ? "program 'ring4_1_2': ranks 0 and 3, which it connects, have no link that keeps lines of LL128 "
                        "whole, and GC3_LL128 refuses another protocol"
                      : "");
  }
}

TEST(CommLines, SetsOfPeers) {
  comm::PeerSet peers;
  for (uint32_t peer : {0u, 63u, 64u, 1023u, 1024u, UINT32_MAX})
    peers.add(peer);
  std::vector<uint32_t> has;
  for (uint32_t peer : {0u, 1u, 62u, 63u, 64u, 65u, 127u, 1022u, 1023u, 1024u, UINT32_MAX})
    if (peers.has(peer))
      has.push_back(peer);
  EXPECT_EQ(has, (std::vector<uint32_t>{0, 63, 64, 1023})) << "nothing is known of those beyond";
}

/// Runs two programs. Exits the process with 0 if both calls succeed.
void runWithLog() {
  setenv("GC3_DEBUG", "INFO", 1);
  FakeCuda fake;
  FakeNccl nccl(fake);
  fake.nvlink = false;
  cuda::Options options;
  options.tuning[0] = {.slots = 5, .slotBytes = 512, .threads = 64};
  options.tuning[1] = {.slots = 6, .slotBytes = 384};
  CommWorld world(fake, nccl,
                  {under(Protocol::LL128, ringAllReduce(2, false)), under(Protocol::LL, ringAllReduce(2, false))},
                  options);
  std::exit(world.run(0, {}).empty() && world.run(1, {}).empty() ? 0 : 1);
}

/// Has ranks join. Exits the process with 0 if they can run programs.
void joinWithLog() {
  setenv("GC3_DEBUG", "INFO", 1);
  FakeCuda fake;
  FakeNccl nccl(fake);
  nccl.teamSize = 2;
  nccl.hasPart = false;
  const CommWorld world(fake, nccl, {ringAllReduce(4, false), pairs(4)});
  std::exit(world.joinProblem().empty() ? 0 : 1);
}

/// Before the first call, the log names each program that can't run, and two ranks between which it has no route.
TEST(CommLinesDeathTest, TheLogTellsWhatIsRefused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // new process for the statement: a process reads GC3_DEBUG once
  EXPECT_EXIT(
      joinWithLog(), testing::ExitedWithCode(0),
      "\n(gc3: rank [0-3]: refused: program 'ring4_1': ranks 0 and 3, which it connects, do not reach each other's "
      "memory, and rank 0 has no libgc3gin.so, which sends between nodes\n){4}$");
}

/// When a program is loaded, the log gives its protocol, FIFO slots, threads and memory.
TEST(CommLinesDeathTest, TheLogTells) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // new process for the statement: a process reads GC3_DEBUG once
  EXPECT_EXIT(runWithLog(), testing::ExitedWithCode(0),
              "gc3: rank 1: program 'ring2_1_2' is loaded: Simple instead of LL128, 5 slots of 512 bytes, blocks of 64 "
              "threads, [1-9][0-9]* bytes for the program, 2 messages without slots in calls with windows, [1-9][0-9]* "
              "bytes of windows for new connections\n(.|\n)*"
              "gc3: rank 1: program 'ring2_1_1' is loaded: LL, 6 slots of 384 bytes, blocks of 512 threads, ");
}

} // namespace
