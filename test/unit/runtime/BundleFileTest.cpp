// SPDX-License-Identifier: Apache-2.0
// Tests the bundle reader with damaged files: every truncation, every flipped byte, and intact files with wrong
// contents.
#include "MendBundle.h"
#include "Programs.h"
#include "ReadAll.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace gc3::bundle;
using namespace gc3::test;

namespace {

std::string smallBundle() {
  ProgramSpec timed = plainRingAllReduce(2);
  timed.times = {{1024, 3.5}, {2048, 4}};
  return buildBundle({ringAllReduce(2, true), timed}, {}, {{"allreduce", 2, {{1024, 5}}}});
}

} // namespace

TEST(BundleFile, ReadsWrittenBundles) {
  const auto opened = openBytes(buildBundle({ringAllReduce(3, true), allToAll(2, 3)}));
  ASSERT_TRUE(opened.ok());
  const BundleFile &file = **opened;
  ASSERT_EQ(file.programCount(), 2u);
  EXPECT_EQ(file.program(1).collective()->str(), "alltoall");
  const BundleResult<RankView> view = file.rank(0, 2);
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->inputSlots, 3u);
  EXPECT_EQ(view->alias, fbs::Alias::InputInOutput);
  EXPECT_EQ(view->threadBlocks[0].send_peer(), 0);
  EXPECT_EQ(view->instructions.size(), 5u); // the steps are send, rrs, rrcs, rcs, recv
  const BundleResult<CheckView> check = file.check(0);
  ASSERT_TRUE(check.ok());
  EXPECT_EQ(check->rowOfRank.size(), 3u);
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
  const auto opened = openBytes(bytes);
  ASSERT_TRUE(opened.ok());
  const std::span<const SectionEntry> sections = (*opened)->sections();
  for (const SectionEntry &section : sections)
    for (uint64_t i = 0; i < section.size; ++i)
      for (int bit = 0; bit < 8; ++bit) {
        std::string flipped = bytes;
        char &byte = flipped[section.offset + i];
        byte = static_cast<char>(byte ^ (1 << bit));
        readAll(joinBundle(*splitBundle(flipped))); // sanitizers detect bad accesses
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
  EXPECT_EQ(readAll(minor).error, BundleError::Corrupt); // the header's checksum covers the minor version
  EXPECT_TRUE(readAll(withContainer(minor, containerOf(minor))).ok());
  const auto file = openBytes(bytes);
  ASSERT_TRUE(file.ok());
  std::string corrupt = bytes;
  corrupt[(*file)->sections()[2].offset + 20] ^= 1;
  EXPECT_NE(readAll(corrupt).message.find("rank 0 of program 'ring2_aliased_1'"), std::string::npos)
      << readAll(corrupt).message;
  EXPECT_EQ(BundleFile::open("/nonexistent").outcome().error, BundleError::System);
  EXPECT_EQ(BundleFile::open("/").outcome().error, BundleError::System);
}
