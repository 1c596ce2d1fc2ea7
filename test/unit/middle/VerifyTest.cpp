// SPDX-License-Identifier: Apache-2.0
// Tests the findings of Verify for small handwritten programs with one error each.
#include "gc3/Verify/Verify.h"
#include <gtest/gtest.h>

using namespace gc3::ir;
using gc3::verify::Finding;
using gc3::verify::verify;

namespace {

/// Two ranks exchange their chunk: output(r, 0) == input(1 - r, 0). Each rank has a sending and a receiving thread
/// block.
struct Exchange {
  std::shared_ptr<ProgramInfo> info = std::make_shared<ProgramInfo>();
  Program program;

  Exchange() {
    Collective &collective = info->collective;
    collective.name = "exchange";
    collective.ranks = 2;
    collective.input = collective.output = {1, 1};
    collective.hasInput = collective.hasOutput = {1, 1};
    collective.aliases.resize(2);
    collective.post = {{0, 1, 2}, {{0, 0, 0, 0, 1}, {1, 0, 0, 0, 1}}, {0, 1}, {0, 1, 2}, {2, 1}};
    info->name = "exchange";
    info->directives.resize(1);
    info->sites.resize(1);
    program.info = info;
    program.bufferSizes = {1, 1, 1, 1};
    for (uint32_t rank = 0; rank != 2; ++rank) {
      auto peer = static_cast<int32_t>(1 - rank);
      program.threadBlocks.push_back({rank, 0, peer, -1, 2 * rank, 1});
      program.threadBlocks.push_back({rank, 0, -1, peer, 2 * rank + 1, 1});
      program.steps.push_back(send());
      program.steps.push_back(receive());
      program.rankBegin.push_back(2 * rank + 2);
    }
  }

  static Step send() {
    Step step{};
    step.opcode = Opcode::Send;
    step.count = 1;
    return step;
  }
  static Step receive() {
    Step step{};
    step.opcode = Opcode::Recv;
    step.dstBuffer = OutputBuffer;
    step.count = 1;
    return step;
  }
  /// Replaces the thread blocks by one for each rank, with the steps in the given order.
  void inOneBlock(std::vector<Step> first, std::vector<Step> second) {
    program.threadBlocks = {{0, 0, 1, 1, 0, static_cast<uint32_t>(first.size())},
                            {1, 0, 0, 0, static_cast<uint32_t>(first.size()), static_cast<uint32_t>(second.size())}};
    program.rankBegin = {0, 1, 2};
    program.steps = std::move(first);
    program.steps.insert(program.steps.end(), second.begin(), second.end());
  }
  void wait(uint32_t step, uint32_t threadBlock, uint32_t on) {
    program.steps[step].waitBegin = static_cast<uint32_t>(program.waits.size());
    program.steps[step].waitCount = 1;
    program.waits.push_back({threadBlock, on});
  }
  /// Returns the only finding.
  Finding finding(Finding::Kind kind) const {
    auto verdict = verify(program, {});
    EXPECT_EQ(verdict.findings.size(), 1u);
    Finding result = verdict.findings.empty() ? Finding{} : verdict.findings.front();
    EXPECT_EQ(result.kind, kind) << result.message;
    auto exact = verify(program, {.exact = true});
    EXPECT_EQ(exact.findings.size(), verdict.findings.size());
    return result;
  }
};

} // namespace

TEST(Verify, acceptsTheExchange) {
  Exchange exchange;
  auto verdict = verify(exchange.program, {});
  EXPECT_TRUE(verdict.holds());
  EXPECT_EQ(verdict.proven, 15u);
  EXPECT_EQ(verdict.minSlots, 1u);
}

TEST(Verify, deadlockOfTwoReceives) {
  Exchange exchange;
  exchange.inOneBlock({Exchange::receive(), Exchange::send()}, {Exchange::receive(), Exchange::send()});
  Finding finding = exchange.finding(Finding::Deadlock);
  EXPECT_EQ(finding.message, "the program deadlocks with 8 slots per connection");
  ASSERT_EQ(finding.notes.size(), 2u);
  EXPECT_EQ(finding.notes[0].message, "rank 0 tb 0 step 0 (recv from 1) waits for a message from rank 1");
  EXPECT_EQ(finding.notes[1].message, "rank 1 tb 0 step 0 (recv from 0) waits for a message from rank 0");
}

TEST(Verify, countsSlots) {
  // Both ranks send twice before they receive twice, which needs two slots.
  Exchange exchange;
  std::vector<Step> steps = {Exchange::send(), Exchange::send(), Exchange::receive(), Exchange::receive()};
  exchange.inOneBlock(steps, steps);
  EXPECT_EQ(verify(exchange.program, {}).minSlots, 2u);
  exchange.program.fifoSlots = 1;
  Finding finding = exchange.finding(Finding::Deadlock);
  EXPECT_EQ(finding.message, "the program deadlocks with 1 slot per connection; with 2 it ends");
  ASSERT_EQ(finding.notes.size(), 2u);
  EXPECT_EQ(finding.notes[0].message, "rank 0 tb 0 step 1 (send to 1) waits for a free slot to rank 1");
}

TEST(Verify, cycleOfWaits) {
  Exchange exchange;
  exchange.wait(0, 1, 0);
  exchange.wait(1, 0, 0);
  Finding finding = exchange.finding(Finding::Deadlock);
  ASSERT_EQ(finding.notes.size(), 2u);
  EXPECT_EQ(finding.notes[0].message, "rank 0 tb 0 step 0 (send to 1) waits for tb 1 step 0");
  EXPECT_EQ(finding.notes[1].message, "rank 0 tb 1 step 0 (recv from 1) waits for tb 0 step 0");
}

TEST(Verify, messagesThatDoNotMeet) {
  Exchange exchange;
  exchange.program.steps[2].count = 2;
  exchange.program.bufferSizes[2] = 2;
  EXPECT_EQ(exchange.finding(Finding::Structure).message,
            "rank 0 tb 1 step 0 (recv from 1) receives 1 slot where rank 1 tb 0 step 0 (send to 0) sends 2");
}

TEST(Verify, numbersOfMessages) {
  Exchange exchange;
  exchange.inOneBlock({Exchange::send(), Exchange::send(), Exchange::receive()},
                      {Exchange::send(), Exchange::receive()});
  EXPECT_EQ(exchange.finding(Finding::Structure).message,
            "rank 0 sends 2 messages to rank 1 on channel 0, which receives 1");
}

// A bundle's section limits the instructions and waits of a rank. The test uses smaller limits.
TEST(Verify, instructionsAndWaitsOfARank) {
  Exchange exchange;
  exchange.wait(0, 1, 0);
  exchange.program.steps[0].waitCount = 3;
  exchange.program.waits.assign(3, {1, 0});
  EXPECT_TRUE(verify(exchange.program, {.maxInstructions = 2}).proven & gc3::verify::StructureHolds);
  auto verdict = verify(exchange.program, {.maxInstructions = 1});
  ASSERT_EQ(verdict.findings.size(), 3u);
  for (const Finding &finding : verdict.findings)
    EXPECT_EQ(finding.kind, Finding::Structure);
  EXPECT_EQ(verdict.findings[0].message, "rank 0 has 2 instructions, the limit is 1; larger chunks need fewer");
  EXPECT_EQ(verdict.findings[1].message,
            "the instructions of rank 0 have 3 waits, the limit is 2; larger chunks need fewer");
  EXPECT_EQ(verdict.findings[2].message, "rank 1 has 2 instructions, the limit is 1; larger chunks need fewer");
}

TEST(Verify, connectionWithTwoSenders) {
  Exchange exchange;
  exchange.program.threadBlocks[1].sendPeer = 1;
  EXPECT_EQ(exchange.finding(Finding::Structure).message,
            "the connection from rank 0 to rank 1 on channel 0 must have one sending and one receiving thread block, "
            "but has 3 in all");
}

TEST(Verify, rangesAndPeers) {
  {
    Exchange exchange;
    exchange.program.steps[3].dstIndex = 1;
    EXPECT_EQ(exchange.finding(Finding::Structure).message,
              "rank 1 tb 1 step 0 (recv from 0) writes output[1..2], which has 1 slot on this rank");
  }
  {
    Exchange exchange;
    exchange.program.threadBlocks[0].sendPeer = 7;
    EXPECT_EQ(exchange.finding(Finding::Structure).message, "rank 0 tb 0 has peer 7, but the program has 2 ranks");
  }
  {
    Exchange exchange;
    exchange.program.steps[1].opcode = Opcode::RecvCopySend;
    EXPECT_EQ(exchange.finding(Finding::Structure).message,
              "rank 0 tb 1 step 0 (rcs from 1) sends in a thread block without a peer to send to");
  }
  {
    Exchange exchange;
    exchange.wait(0, 0, 0);
    EXPECT_EQ(exchange.finding(Finding::Structure).message,
              "rank 0 tb 0 step 0 (send to 1) waits for tb 0 step 0, which its own thread block has not reached");
  }
  {
    Exchange exchange;
    exchange.wait(0, 3, 0);
    EXPECT_EQ(exchange.finding(Finding::Structure).message,
              "rank 0 tb 0 step 0 (send to 1) waits for tb 3 step 0, which does not exist");
  }
}

TEST(Verify, readsOfNothing) {
  Exchange exchange;
  exchange.inOneBlock({Exchange::send(), Exchange::receive()}, {Exchange::send(), Exchange::receive()});
  exchange.program.steps[0].srcBuffer = OutputBuffer;
  EXPECT_EQ(exchange.finding(Finding::Uninitialised).message,
            "rank 0 tb 0 step 0 (send to 1) reads output[0], which no step has written");
}

TEST(Verify, operandsThatAreNotUsedMayBeAnything) {
  Exchange exchange;
  for (uint32_t receive : {1, 3}) {
    exchange.program.steps[receive].srcBuffer = 255;
    exchange.program.steps[receive].srcIndex = ~0u;
  }
  for (uint32_t send : {0, 2}) {
    exchange.program.steps[send].dstBuffer = 255;
    exchange.program.steps[send].dstIndex = ~0u;
  }
  EXPECT_TRUE(verify(exchange.program, {}).holds());
}

TEST(Verify, wrongContributions) {
  Exchange exchange; // rank 1 reduces the message into its input and never writes its output
  exchange.program.steps[3].opcode = Opcode::RecvReduceCopy;
  EXPECT_EQ(exchange.finding(Finding::Postcondition).message, "output(1, 0): unexpected input(1, 0)");
  exchange.program.steps[3].dstBuffer = InputBuffer;
  exchange.wait(3, 0, 0);
  EXPECT_EQ(exchange.finding(Finding::Postcondition).message, "output(1, 0) is never written");
}

TEST(Verify, missingAndDoubled) {
  Exchange exchange; // output(1, 0) must contain both inputs once
  exchange.info->collective.post = {{0, 2}, {{0, 0, 0, 0, 1}, {1, 0, 0, 0, 1}}, {0, 1}, {0, 1, 2}, {0, 1}};
  EXPECT_EQ(exchange.finding(Finding::Postcondition).message, "output(1, 0): missing input(1, 0)");
  Step again{};
  again.opcode = Opcode::Reduce;
  again.srcBuffer = InputBuffer;
  again.dstBuffer = OutputBuffer;
  again.count = 1;
  exchange.program.steps.insert(exchange.program.steps.end(), {again, again});
  exchange.program.threadBlocks[3].stepCount = 3;
  EXPECT_EQ(exchange.finding(Finding::Postcondition).message, "output(1, 0): input(1, 0) counted twice");
}

TEST(Verify, countsBeyond64Bits) {
  // Output (1, 0) becomes 2^64 + 1 times input (0, 0), which a sum modulo 2^64 would treat as once.
  Exchange exchange;
  auto local = [](Opcode opcode, BufferId src, BufferId dst) {
    Step step{};
    step.opcode = opcode;
    step.srcBuffer = src;
    step.dstBuffer = dst;
    step.count = 1;
    return step;
  };
  std::vector<Step> more = {local(Opcode::Copy, OutputBuffer, InputBuffer)};
  more.insert(more.end(), 64, local(Opcode::Reduce, OutputBuffer, OutputBuffer));
  more.push_back(local(Opcode::Reduce, InputBuffer, OutputBuffer));
  exchange.program.steps.insert(exchange.program.steps.end(), more.begin(), more.end());
  exchange.program.threadBlocks[3].stepCount += static_cast<uint32_t>(more.size());
  exchange.wait(4, 0, 0); // the copy overwrites a slot that the other block sends
  EXPECT_EQ(exchange.finding(Finding::Postcondition).message,
            "output(1, 0): input(0, 0) counted at least 18446744073709551615 times instead of once");
}

TEST(Verify, fewestSlotsOfMany) {
  Exchange exchange;
  std::vector<Step> steps(300, Exchange::send());
  steps.insert(steps.end(), 300, Exchange::receive());
  exchange.inOneBlock(steps, steps);
  exchange.program.fifoSlots = 65536;
  EXPECT_EQ(verify(exchange.program, {}).minSlots, 300u);
}

TEST(Verify, partsOfChunks) {
  Exchange exchange;
  exchange.program.subdivision = 2;
  exchange.program.bufferSizes = {2, 2, 2, 2};
  auto verdict = verify(exchange.program, {});
  ASSERT_EQ(verdict.findings.size(), 2u);
  EXPECT_EQ(verdict.findings[0].message, "output(0, 0) part 2 of 2 is never written");
}
