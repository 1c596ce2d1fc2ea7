// SPDX-License-Identifier: Apache-2.0
// Tests which messages bypass their slots, for small programs with known answers. The adversarial runs of RunTest test
// that these decisions are correct in every order.
#include "Programs.h"

#include "core/Transfers.h"
#include "host/Copy.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace gc3::test;
using gc3::bundle::BundleFile;
using gc3::core::HappensBefore;
using gc3::core::Program;
using gc3::core::SlotRange;
using gc3::core::Transfer;
using gc3::core::Transfers;

namespace {

/// A program and its analysis.
struct Analysed {
  explicit Analysed(const ProgramSpec &spec) {
    std::string bytes = buildBundle({spec});
    EXPECT_TRUE(BundleFile::openMemory(bytes.data(), bytes.size()).moveTo(file).ok());
    EXPECT_TRUE(Program::load(*file, 0).moveTo(program).ok());
    transfers = std::make_unique<Transfers>(Transfers::asWritten(*program, HappensBefore(*program)));
  }
  /// Returns one letter per step of a rank, for the message that the step sends: 'k' if it stays in a slot, 'f' if the
  /// receiver fetches it, 's' if the sender stores it. '-' means that the step sends nothing.
  std::string sends(uint32_t rank) const {
    std::string text;
    for (uint32_t step = program->firstStep(rank); step < program->firstStep(rank + 1); ++step) {
      const Transfers::StepTransfer &own = transfers->steps()[step];
      text += own.receiver == Transfers::none ? '-' : "kfs"[static_cast<int>(own.out)]; // Slot, Fetch, Store
      if (own.receiver != Transfers::none) {
        EXPECT_EQ(transfers->steps()[own.receiver].in, own.out);
        EXPECT_EQ(transfers->steps()[own.receiver].sender, step);
      }
    }
    return text;
  }

  /// The parts of a rank's input that in-place calls copy, and the letters of sends() for these calls.
  struct InPlace {
    std::vector<SlotRange> staged;
    uint32_t readers = 0;
    std::string sends;
    bool operator==(const InPlace &) const = default;
  };
  InPlace inPlace(uint32_t rank) {
    gc3::common::StandardCollective standard = *gc3::common::findStandard(program->info().collective()->str());
    transfers = std::make_unique<Transfers>(Transfers::inPlace(*program, HappensBefore(*program), standard));
    return {transfers->staged(rank)->runs, transfers->staged(rank)->readers, sends(rank)};
  }

  std::unique_ptr<BundleFile> file;
  std::unique_ptr<Program> program;
  std::unique_ptr<Transfers> transfers;
};

} // namespace

// Each receive overwrites the slot that the send of the same rank reads. If messages were fetched, each receive would
// have to wait until the other rank has fetched, and both ranks would deadlock.
TEST(Transfers, ExchangeInPlaceStaysInSlots) {
  Analysed swap(swapInPlace());
  EXPECT_EQ(swap.sends(0), "k-");
  EXPECT_EQ(swap.sends(1), "k-");
  EXPECT_FALSE(swap.transfers->any());
}

TEST(Transfers, ExchangeBetweenTwoBuffersIsStored) {
  Analysed exchange(allToAll(2, 3));
  EXPECT_EQ(exchange.sends(0), "-s-");
  EXPECT_EQ(exchange.sends(1), "-s-");
}

// The steps are send, rrcs, recv. In place, the stored result overwrites the chunk that the peer has sent. This is
// safe, because rrcs fetches that chunk before it stores the result.
TEST(Transfers, TwoRanksReduceFromAndIntoEachOther) {
  for (bool aliased : {true, false}) {
    Analysed ring(ringAllReduce(2, aliased));
    EXPECT_EQ(ring.sends(0), "fs-") << aliased;
    EXPECT_EQ(ring.sends(1), "fs-") << aliased;
  }
}

// The steps are send, rrs, rrcs, rcs, recv. The sum that rrs sends is only in the FIFO slot, in no buffer.
TEST(Transfers, RingsKeepForwardedMessagesInSlots) {
  Analysed ring(ringAllReduce(3, true));
  EXPECT_EQ(ring.sends(0), "fkss-");
  EXPECT_TRUE(ring.transfers->separable(0));
  EXPECT_TRUE(ring.transfers->untouched(0).empty());
}

TEST(Transfers, OwnBlockOfAGatherIsUntouched) {
  Analysed gathered(allGather(3, true));
  ASSERT_TRUE(gathered.transfers->separable(1));
  ASSERT_EQ(gathered.transfers->untouched(1).size(), 1u);
  EXPECT_EQ(gathered.transfers->untouched(1)[0].begin, 0u);
  EXPECT_EQ(gathered.transfers->untouched(1)[0].count, 1u);
}

// Two ranks exchange two chunks in place. If both send first, no chunk is copied, and the messages stay in slots. If
// rank 1 receives first, it overwrites chunks that it must still send. So rank 1 copies them first. It can store the
// copy at rank 0. It can also fetch the message of rank 0, because rank 0 overwrites the source of that message only
// later.
TEST(Transfers, InPlaceOnlyWhatIsOverwrittenTooEarlyIsStaged) {
  ProgramSpec spec = allToAll(2, 2);
  Analysed sendsFirst(spec);
  EXPECT_EQ(sendsFirst.inPlace(0), (Analysed::InPlace{{}, 0, "-k-"}));
  EXPECT_EQ(sendsFirst.inPlace(1), (Analysed::InPlace{{}, 0, "-k-"}));
  std::swap(spec.ranks[1].blocks[1].steps[0], spec.ranks[1].blocks[1].steps[1]);
  Analysed oneReceivesFirst(spec);
  EXPECT_EQ(oneReceivesFirst.inPlace(0), (Analysed::InPlace{{}, 0, "-f-"}));
  EXPECT_EQ(oneReceivesFirst.inPlace(1), (Analysed::InPlace{{{0, 2}}, 1, "--s"}));
}

// One thread block receives and another sends, and nothing orders the two. So the receive can overwrite what the send
// must still read.
TEST(Transfers, InPlaceThreadBlocksThatDoNotWaitAreStaged) {
  ProgramSpec spec = allToAll(2, 1);
  for (Rank &rank : spec.ranks) {
    Block &both = rank.blocks[1], receives = both;
    receives.sendPeer = -1;
    receives.steps.erase(receives.steps.begin());
    both.recvPeer = -1;
    both.steps.pop_back();
    rank.blocks.push_back(receives);
  }
  Analysed any(spec);
  EXPECT_EQ(any.inPlace(0), (Analysed::InPlace{{{1, 1}}, 1, "-f-"}));
  EXPECT_EQ(any.inPlace(1), (Analysed::InPlace{{{0, 1}}, 1, "-f-"}));
  for (uint32_t r = 0; r < 2; ++r)
    spec.ranks[r].blocks[2].steps[0].waits = {{1, 0}};
  Analysed waits(spec);
  EXPECT_EQ(waits.inPlace(0), (Analysed::InPlace{{}, 0, "-k-"}));
}

// Each rank keeps its own block. In an AllGather this block is already at its destination. In a Scatter or
// ReduceScatter it is part of a wider input. No slot needs a copy.
TEST(Transfers, InPlaceBuffersOfDifferentSizes) {
  EXPECT_EQ(Analysed(allGather(3, false)).inPlace(2).staged, std::vector<SlotRange>());
  EXPECT_EQ(Analysed(scatter(3, 1)).inPlace(1).staged, std::vector<SlotRange>());
  EXPECT_EQ(Analysed(reduceScatter(3, false)).inPlace(1).staged, std::vector<SlotRange>());
}

// A program that deadlocks has no order of steps, so no message can bypass its slot.
TEST(Transfers, DeadlocksStayInSlots) {
  ProgramSpec spec = swapInPlace();
  for (Rank &rank : spec.ranks)
    std::swap(rank.blocks[0].steps[0], rank.blocks[0].steps[1]);
  EXPECT_FALSE(Analysed(spec).transfers->any());
}

TEST(Copy, EveryLengthAndAlignment) {
  constexpr size_t room = 5000;
  std::vector<unsigned char> from(room), to(room);
  for (size_t i = 0; i < room; ++i)
    from[i] = static_cast<unsigned char>(i * 37 + i / 256);
  for (auto copy : {gc3::host::copyBytes, gc3::host::streamBytes})
    for (size_t length : {0, 1, 63, 64, 65, 200, 2047, 2048, 2500, 4096})
      for (size_t source : {0, 1, 33})
        for (size_t target : {0, 1, 15, 63, 64}) {
          std::fill(to.begin(), to.end(), 0xee);
          copy(to.data() + target, from.data() + source, length);
          gc3::host::finishStreams();
          std::vector<unsigned char> expected(room, 0xee);
          std::copy_n(from.begin() + static_cast<ptrdiff_t>(source), length,
                      expected.begin() + static_cast<ptrdiff_t>(target));
          ASSERT_EQ(to, expected) << length << " " << source << " " << target;
        }
  gc3::host::copyBytes(to.data(), to.data(), room);
  gc3::host::streamBytes(nullptr, nullptr, 0);
}
