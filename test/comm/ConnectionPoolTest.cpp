// SPDX-License-Identifier: Apache-2.0
// Tests that programs share connections, and that no two connections use the same memory.
#include "plan/ConnectionPool.h"
#include "LoopbackSupport.h"
#include "Programs.h"

#include <set>

using namespace gc3;
using namespace gc3::test;
using kernel::Protocol;
using plan::ConnectionPool;

namespace {

std::unique_ptr<core::Program> programOf(const bundle::BundleFile &file) {
  std::unique_ptr<core::Program> program;
  EXPECT_TRUE(core::Program::load(file, 0).moveTo(program).ok());
  return program;
}

constexpr plan::SlotSizes simple{Protocol::Simple, 2, 256}, lowLatency{Protocol::LL, 2, 128};

TEST(ConnectionPool, TheKthBetweenTwoRanksIsOne) {
  const auto ringFile = open({ringAllReduce(3, false)}), apartFile = open({plainRingAllReduce(3)}),
             allFile = open({allToAll(3, 1)});
  const auto ring = programOf(*ringFile), apart = programOf(*apartFile), all = programOf(*allFile);
  ConnectionPool pool(3);
  const std::vector<uint32_t> first = pool.add(*ring, simple);
  EXPECT_EQ(first, (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_EQ(pool.pieces(), 1u);
  EXPECT_EQ(pool.add(*apart, simple), first) << "between the same ranks";
  EXPECT_EQ(pool.pieces(), 1u);
  EXPECT_EQ(pool.add(*ring, lowLatency), (std::vector<uint32_t>{3, 4, 5})) << "another protocol has its own";
  EXPECT_EQ(pool.pieces(), 2u);
  // In the order 0 -> 1, 0 -> 2, 1 -> 0, 1 -> 2, 2 -> 0, 2 -> 1. Connections 0, 1 and 2 are those of the ring.
  EXPECT_EQ(pool.add(*all, simple), (std::vector<uint32_t>{0, 6, 7, 1, 2, 8}));
  EXPECT_EQ(pool.pieces(), 3u);
  EXPECT_EQ(pool.mostWithSlots(), 3u);
  ConnectionPool again = pool;
  EXPECT_EQ(again.add(*all, simple), pool.add(*all, simple));
  EXPECT_EQ(pool.pieces(), 3u);
}

/// The pool numbers parallel connections between two ranks in the order of their channels. The channel numbers
/// themselves do not matter.
TEST(ConnectionPool, ChannelsCountFromTheFirst) {
  ProgramSpec two = ringAllReduce(2, false), late = two;
  for (Rank &rank : two.ranks) {
    rank.blocks.push_back(rank.blocks[0]);
    rank.blocks.back().channel = 5;
  }
  for (Rank &rank : late.ranks)
    rank.blocks[0].channel = 9;
  const auto twoFile = open({two}), lateFile = open({late});
  ConnectionPool pool(2);
  EXPECT_EQ(pool.add(*programOf(*twoFile), simple).size(), 4u);
  EXPECT_EQ(pool.add(*programOf(*lateFile), simple), (std::vector<uint32_t>{0, 2}));
}

/// Both ends compute the same addresses. The counters and slots that a peer writes have cache lines of their own.
TEST(ConnectionPool, EndsMeetAndDoNotOverlap) {
  const auto file = open({allToAll(4, 1)});
  const auto program = programOf(*file);
  ConnectionPool pool(4);
  const std::vector<uint32_t> numbers = pool.add(*program, simple);
  EXPECT_EQ(pool.largestPart(0), 3 * 128 + 3 * (128 + 2 * 256u));
  std::vector<std::vector<std::byte>> memory;
  ConnectionPool::Parts parts(1);
  for (uint32_t rank = 0; rank < 4; ++rank) {
    memory.emplace_back(pool.bytes(0, rank));
    parts[0].push_back(memory[rank].data());
  }
  std::set<const void *> lines;
  const auto fresh = [&](const void *at, uint64_t bytes) {
    bool inside = false;
    for (const auto &part : memory)
      inside |= at >= part.data() && static_cast<const std::byte *>(at) + bytes <= part.data() + part.size();
    EXPECT_TRUE(inside);
    for (uint64_t line = 0; line < bytes; line += 128)
      EXPECT_TRUE(lines.insert(static_cast<const std::byte *>(at) + line).second) << "taken twice";
  };
  for (uint32_t number : numbers) {
    const kernel::SendEnd send = pool.sendEnd(number, parts);
    const kernel::ReceiveEnd receive = pool.receiveEnd(number, parts);
    EXPECT_EQ(send.slots, receive.slots);
    EXPECT_EQ(send.arrived, receive.arrived);
    EXPECT_EQ(send.freed, receive.freed);
    EXPECT_EQ(send.sent, send.freed + 1) << "on the sender's line";
    EXPECT_EQ(receive.received, receive.arrived + 1) << "on the receiver's line";
    fresh(send.freed, 128);
    fresh(receive.arrived, 128);
    fresh(receive.slots, 512);
  }
}

/// There are two ranks on each node. Both ends of a connection between nodes have slots, and neither end has addresses
/// of the other. No two connections use the same signal of a rank.
TEST(ConnectionPool, NetworkEndsMeet) {
  const auto ringFile = open({ringAllReduce(4, false)}), allFile = open({allToAll(4, 1)});
  const auto ring = programOf(*ringFile), all = programOf(*allFile);
  ConnectionPool pool(std::vector<uint32_t>{0, 0, 2, 2});
  const std::vector<uint32_t> first = pool.add(*ring, simple), numbers = pool.add(*all, simple);
  EXPECT_EQ(pool.mostWithSlots(), 5u) << "three that end at a rank, and two of the sender's own";
  EXPECT_EQ(pool.mostSignals(), 2 * (simple.slots + 1));
  std::vector<std::vector<std::byte>> memory;
  ConnectionPool::Parts parts(pool.pieces());
  plan::NetworkRoute network{nullptr, 3, {}};
  for (uint32_t piece = 0; piece < pool.pieces(); ++piece) {
    for (uint32_t rank = 0; rank < 4; ++rank)
      parts[piece].push_back(memory.emplace_back(pool.bytes(piece, rank)).data());
    network.windows.push_back(&parts[piece]);
  }
  std::set<std::pair<uint32_t, uint32_t>> signals; // pairs (rank, signal id)
  std::set<uint32_t> used;                         // contexts of the signals
  std::set<const void *> slots;
  for (uint32_t number : numbers) {
    const kernel::SendEnd send = pool.sendEnd(number, parts);
    const kernel::ReceiveEnd receive = pool.receiveEnd(number, parts);
    EXPECT_EQ(pool.overNetwork(number), send.freed == nullptr);
    EXPECT_TRUE(slots.insert(receive.slots).second);
    if (!pool.overNetwork(number))
      continue;
    EXPECT_TRUE(slots.insert(send.slots).second) << "the sender's own";
    const kernel::NetworkSend out = pool.networkSend(number, network);
    const kernel::NetworkReceive in = pool.networkReceive(number, network);
    EXPECT_NE(out.peer / 2, in.peer / 2);
    const auto piece = static_cast<size_t>(static_cast<const std::vector<std::byte *> *>(out.window) - parts.data());
    EXPECT_EQ(parts[piece][in.peer] + out.from, send.slots);
    EXPECT_EQ(parts[piece][out.peer] + out.to, receive.slots);
    EXPECT_EQ(out.arrived.context, in.arrived.context);
    EXPECT_EQ(out.freed.context, in.freed.context);
    EXPECT_LT(out.arrived.context, 3u);
    used.insert(out.arrived.context);
    EXPECT_EQ(out.arrived.id, in.arrived.id);
    EXPECT_EQ(out.freed.id, in.freed.id);
    for (uint32_t slot = 0; slot < simple.slots; ++slot)
      EXPECT_TRUE(signals.insert({out.peer, out.arrived.id + slot}).second);
    EXPECT_TRUE(signals.insert({in.peer, out.freed.id}).second);
  }
  EXPECT_EQ(signals.size(), 8 * (simple.slots + 1));
  EXPECT_EQ(used.size(), 3u) << "connections take turns";
}

} // namespace
