// SPDX-License-Identifier: Apache-2.0
// Aborts at each call of CUDA's in turn, by another thread that then frees the NCCL communicator: while programs are
// loaded and calls are made. The fake ends the test where anything of a communicator that was freed is touched.
#include "LsaSupport.h"

using namespace gc3;
using namespace gc3::test;

namespace {

/// Loads and calls two programs, aborted at CUDA's call number `at`. Whether it came to that.
bool abortAt(uint64_t at, FakeCuda &fake, FakeWindows &windows, const std::vector<ProgramSpec> &specs) {
  bool aborted = false;
  LsaWorld world(fake, windows, specs);
  EXPECT_EQ(world.made(), "");
  uint64_t calls = 0;
  fake.whileCalled = [&] {
    if (++calls != at)
      return;
    aborted = true;
    abortAll(world);
    for (nccl::Comm comm : world.comms)
      windows.free(comm);
  };
  std::string problem; // once aborted, what calls have done is nobody's business
  for (size_t program = 0; program < specs.size() && !aborted; ++program)
    problem = world.run(program, {.count = 10});
  EXPECT_NE(problem, "a rank is stuck");
  EXPECT_TRUE(aborted || problem.empty()) << problem;
  fake.whileCalled = nullptr;
  EXPECT_TRUE(!aborted || windows.abortedSplits == windows.splits) << "those are nobody else's to abort";
  return aborted;
}

/// Until it ends by itself.
template <typename Prepare>
void sweep(const std::vector<ProgramSpec> &specs, Prepare prepare) {
  for (uint64_t at = 1;; ++at) {
    SCOPED_TRACE("call " + std::to_string(at));
    FakeCuda fake;
    FakeWindows windows(fake);
    prepare(windows);
    if (!abortAt(at, fake, windows, specs))
      return;
  }
}

TEST(LsaAbortSweep, OneTeam) {
  sweep({ringAllReduce(2, true), pairs(2)}, [](FakeWindows &) {});
}

TEST(LsaAbortSweep, OverANetwork) {
  sweep({ringAllReduce(4, true), pairs(4)}, [](FakeWindows &windows) { windows.teamSize = 2; });
}

TEST(LsaAbortSweep, TeamsApart) {
  sweep({pairs(4), under(device::Protocol::LL, pairs(4))}, [](FakeWindows &windows) {
    windows.teamSize = 2;
    windows.hasPart = false;
    windows.windows = FakeWindows::Windows::OneTeam;
    windows.version = lsa::tellingVersion;
  });
}

} // namespace
