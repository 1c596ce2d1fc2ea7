// SPDX-License-Identifier: Apache-2.0
// What ranks tell each other while the application has a group of NCCL's open goes nowhere before that ends.
#include "LsaSupport.h"

using namespace gc3;
using namespace gc3::test;

namespace {

class LsaOpenGroup : public testing::Test {
protected:
  void TearDown() override { EXPECT_EQ(windows.leaks(), leaks); }

  static constexpr auto why =
      "a group of NCCL's is open, in which ranks can't tell each other anything, or the communicator was revoked";
  std::string leaks;
  FakeCuda fake;
  FakeWindows windows{fake};
  const lsa::Nccl nccl = windows.table();
};

TEST_F(LsaOpenGroup, NobodyJoins) {
  nccl.GroupStart();
  {
    const LsaWorld world(fake, windows, {ringAllReduce(3, true)});
    EXPECT_EQ(world.made(), why);
    EXPECT_EQ(world.joined[0].outcome.code, gc3InvalidUsage);
    EXPECT_EQ(fake.launches, 0u);
  }
  // Of each rank, what NCCL uses now: memory for the gather, the word to stop, and a stream.
  EXPECT_EQ(nccl.GroupEnd(), nccl::Result::Success);
  EXPECT_TRUE(windows.revoked.empty());
  leaks = "3 pieces of memory 3 pieces of pinned memory 3 streams ";
}

/// Its calls from before come to their end, and so does what NCCL has.
TEST_F(LsaOpenGroup, NothingIsLoaded) {
  {
    LsaWorld world(fake, windows, {ringAllReduce(3, true), allToAll(3, 2)});
    EXPECT_EQ(world.made(), "");
    EXPECT_EQ(world.run(0, {}), "");
    nccl.GroupStart();
    EXPECT_EQ(world.run(0, {}), ""); // which needs no loading
    EXPECT_EQ(world.run(1, {}), why);
    EXPECT_EQ(world.run(0, {}), why);
    EXPECT_EQ(nccl.GroupEnd(), nccl::Result::Success);
    for (const lsa::Joined &rank : world.joined) {
      EXPECT_EQ(rank.rank->broken().code, gc3InvalidUsage);
      EXPECT_EQ(rank.rank->watch({}).text, why);
    }
    EXPECT_EQ(fake.launches, 6u);
  }
  EXPECT_TRUE(windows.revoked.empty());
  // Of each rank now also its two programs with their windows, of which one is registered.
  leaks = "12 pieces of memory 3 pieces of pinned memory 3 streams 6 pieces of symmetric memory 3 windows ";
}

} // namespace
