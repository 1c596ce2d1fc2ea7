// SPDX-License-Identifier: Apache-2.0
// The reader against broken files: every truncation, every flipped byte, and files that are intact but wrong.
#include "Programs.h"

#include "bundle/BundleFile.h"
#include "bundle/Validate.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace gc3::bundle;
using namespace gc3::test;

namespace {

BundleStatus openBytes(const std::string &bytes, std::unique_ptr<BundleFile> &file) {
  return BundleFile::openMemory(bytes.data(), bytes.size(), file);
}

/// The first error on the way to all sections.
BundleStatus readAll(const std::string &bytes) {
  std::unique_ptr<BundleFile> file;
  if (BundleStatus status = openBytes(bytes, file); !status.ok())
    return status;
  for (uint32_t p = 0; p < file->programCount(); ++p) {
    CheckView check;
    if (BundleStatus status = file->check(p, check); !status.ok())
      return status;
    std::vector<RankView> views(file->program(p).ranks());
    for (uint32_t r = 0; r < views.size(); ++r)
      if (BundleStatus status = file->rank(p, r, views[r]); !status.ok())
        return status;
    if (std::string problem = validateConnections(views); !problem.empty())
      return {BundleError::Invalid, problem};
  }
  return {};
}

std::string smallBundle() {
  return buildBundle({ringAllReduce(2, true), plainRingAllReduce(2)});
}

/// Expects that the spec is refused as invalid with `text` in the message.
void expectInvalid(const ProgramSpec &spec, const std::string &text) {
  BundleStatus status = readAll(buildBundle({spec}));
  EXPECT_EQ(status.error, BundleError::Invalid) << text;
  EXPECT_NE(status.message.find(text), std::string::npos) << status.message;
}

} // namespace

TEST(BundleFile, ReadsWhatWasWritten) {
  std::unique_ptr<BundleFile> file;
  ASSERT_TRUE(openBytes(buildBundle({ringAllReduce(3, true), allToAll(2, 3)}), file).ok());
  ASSERT_EQ(file->programCount(), 2u);
  EXPECT_EQ(file->program(1).collective()->str(), "alltoall");
  RankView view;
  ASSERT_TRUE(file->rank(0, 2, view).ok());
  EXPECT_EQ(view.inputSlots, 3u);
  EXPECT_EQ(view.alias, fbs::Alias::InputInOutput);
  EXPECT_EQ(view.threadBlocks[0].send_peer(), 0);
  EXPECT_EQ(view.instructions.size(), 5u); // send, rrs, rrcs, rcs, recv
  CheckView check;
  ASSERT_TRUE(file->check(0, check).ok());
  EXPECT_EQ(check.rowOfRank.size(), 3u);
  EXPECT_TRUE(readAll(buildBundle({})).ok());
}

TEST(BundleFile, EveryTruncationIsRefused) {
  std::string bytes = smallBundle();
  for (size_t size = 0; size < bytes.size(); ++size) {
    BundleStatus status = readAll(bytes.substr(0, size));
    EXPECT_EQ(status.error, BundleError::Truncated) << size << ": " << status.message;
  }
}

TEST(BundleFile, EveryFlippedByteIsRefused) {
  std::string bytes = smallBundle();
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int bit : {0, 3, 7}) {
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      EXPECT_FALSE(readAll(flipped).ok()) << at;
    }
}

TEST(BundleFile, FlippedBytesUnderRightChecksumsDoNotCrash) {
  std::string bytes = smallBundle();
  std::unique_ptr<BundleFile> file;
  ASSERT_TRUE(openBytes(bytes, file).ok());
  for (uint32_t section = 0; section < file->sections().size(); ++section)
    for (uint64_t i = 0; i < file->sections()[section].size; ++i)
      for (int bit = 0; bit < 8; ++bit) {
        std::string flipped = bytes;
        char &byte = flipped[file->sections()[section].offset + i];
        byte = static_cast<char>(byte ^ (1 << bit));
        resealSection(flipped, section);
        readAll(flipped); // refused or still meaningful; sanitizers watch
      }
}

TEST(BundleFile, SaysWhatIsWrong) {
  std::string bytes = smallBundle();
  EXPECT_EQ(readAll("#!/bin/sh\necho hello to the world of shells").error, BundleError::NotABundle);
  EXPECT_EQ(readAll("").error, BundleError::Truncated);
  std::string newer = bytes;
  newer[4] = 2;
  EXPECT_EQ(readAll(newer).error, BundleError::TooNew);
  EXPECT_NE(readAll(newer).message.find("version 2"), std::string::npos);
  EXPECT_EQ(readAll(bytes + "x").error, BundleError::Corrupt);
  std::string minor = bytes;
  minor[6] = 9;
  EXPECT_EQ(readAll(minor).error, BundleError::Corrupt); // under the header's checksum
  resealSection(minor, 0);
  EXPECT_TRUE(readAll(minor).ok());
  std::unique_ptr<BundleFile> file;
  ASSERT_TRUE(openBytes(bytes, file).ok());
  std::string corrupt = bytes;
  corrupt[file->sections()[2].offset + 20] ^= 1;
  EXPECT_NE(readAll(corrupt).message.find("rank 0 of program 'ring2_aliased_1'"), std::string::npos)
      << readAll(corrupt).message;
  EXPECT_EQ(BundleFile::open("/nonexistent", file).error, BundleError::System);
  EXPECT_EQ(BundleFile::open("/", file).error, BundleError::System);
}

TEST(BundleFile, RefusesWrongPrograms) {
  auto changed = [](auto change) {
    ProgramSpec spec = ringAllReduce(3, false);
    change(spec);
    return spec;
  };
  auto step = [](ProgramSpec &spec) -> Step & { return spec.ranks[1].blocks[0].steps[2]; };
  expectInvalid(changed([&](auto &s) { step(s).opcode = static_cast<Opcode>(8); }),
                "thread block 0 step 2: unknown opcode 8");
  expectInvalid(changed([&](auto &s) { step(s).src.buffer = 2; }), "source buffer 2 does not exist");
  expectInvalid(changed([&](auto &s) { step(s).dst.index = 3; }), "destination slots 3 + 1 leave buffer 1 of 3 slots");
  expectInvalid(changed([&](auto &s) { step(s).dst.index = UINT32_MAX; }), "leave buffer 1");
  expectInvalid(changed([&](auto &s) { step(s).count = 0; }), "count 0");
  expectInvalid(changed([&](auto &s) { step(s).count = 2; }), "count 2 is not in 1 .. 1");
  expectInvalid(changed([&](auto &s) { s.ranks[1].blocks[0].sendPeer = -1; }), "without send peer");
  expectInvalid(changed([&](auto &s) { s.ranks[1].blocks[0].recvPeer = 1; }), "peer 1 is not another rank");
  expectInvalid(changed([&](auto &s) { s.ranks[1].blocks[0].recvPeer = 3; }), "peer 3 is not another rank");
  expectInvalid(changed([&](auto &s) { step(s).waits = {{0, 2}}; }), "waits for step 2 of its own thread block");
  expectInvalid(changed([&](auto &s) { step(s).waits = {{0, 99}}; }), "which does not exist");
  expectInvalid(changed([&](auto &s) { s.ranks[1].inputSlots = 4; }), "not a whole number of blocks");
  expectInvalid(changed([&](auto &s) { s.ranks[1].alias = 1, s.ranks[1].aliasOffset = 1; }), "alias of 3 slots at 1");
  expectInvalid(changed([&](auto &s) { s.ranks[1].alias = 3; }), "alias");
  expectInvalid(changed([&](auto &s) { s.ranks[1].scratchSlots = {1}; }), "scratch");
  expectInvalid(changed([&](auto &s) { s.minFifoSlots = 9; }), "FIFO slots");
  expectInvalid(changed([&](auto &s) { s.subdivision = 0; }), "subdivision");
  expectInvalid(changed([&](auto &s) { s.minBytes = 5, s.maxBytes = 5; }), "size range");
  expectInvalid(changed([&](auto &s) { s.name = ""; }), "no name");
}

TEST(BundleFile, RefusesConnectionsThatDoNotMatch) {
  auto changed = [](auto change) {
    ProgramSpec spec = allToAll(3, 2);
    change(spec);
    return spec;
  };
  expectInvalid(changed([](auto &s) { s.ranks[0].blocks[1].steps.pop_back(); }),
                "from rank 1 to rank 0 on channel 0 has no receiving");
  expectInvalid(changed([](auto &s) { s.ranks[0].blocks[1].channel = 7; }), "has no");
  expectInvalid(changed([](auto &s) { s.ranks[0].blocks[1].steps[0].count = 1; }),
                "message 0 is sent with 1 slots and received with 2");
  expectInvalid(changed([](auto &s) {
                  Step extra = s.ranks[0].blocks[1].steps[0];
                  s.ranks[0].blocks[1].steps.push_back(extra);
                }),
                "message 1 is sent with 2 slots and received with 0");
  expectInvalid(changed([](auto &s) { s.ranks[0].blocks[2] = s.ranks[0].blocks[1]; }), "two sending thread blocks");
}
