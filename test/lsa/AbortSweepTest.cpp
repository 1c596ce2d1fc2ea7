// SPDX-License-Identifier: Apache-2.0
// Aborts at each call of CUDA's in turn, by another thread that then frees the NCCL communicator: while programs are
// loaded and calls are made; and at each of NCCL's while what ranks hold of it is given back. The fake ends the test
// where anything of a communicator that was freed is touched.
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
    for (ncclapi::Comm comm : world.comms)
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

/// NCCL, and what another thread does behind each call that gives something back.
struct GivingBack {
  ncclapi::Nccl nccl;
  std::function<void()> meanwhile;
  static inline GivingBack *current = nullptr;

  explicit GivingBack(ncclapi::Nccl &hooked) : nccl(hooked) {
    current = this;
    hooked.CommWindowDeregister = [](ncclapi::Comm comm, ncclapi::Window window) {
      return current->then(current->nccl.CommWindowDeregister(comm, window));
    };
    hooked.DevCommDestroy = [](ncclapi::Comm comm, const void *network) {
      return current->then(current->nccl.DevCommDestroy(comm, network));
    };
  }
  ncclapi::Result then(ncclapi::Result result) const {
    meanwhile();
    return result;
  }
};

/// The same at NCCL's call number `at` to give something back: first as an attachment does, to which an abort still
/// comes, then as one that goes, which looks at its flag.
template <bool isToBeHeard>
bool abortWhileGivenBack(uint64_t at, FakeCuda &fake, FakeWindows &windows, const std::vector<ProgramSpec> &specs) {
  LsaWorld world(fake, windows, specs);
  GivingBack hooked(world.nccl);
  bool aborted = false;
  uint64_t calls = 0;
  hooked.meanwhile = [&] {
    if (++calls != at)
      return;
    aborted = true;
    if (isToBeHeard)
      abortAll(world);
    for (const nccl::AbortFlag &flag : world.areAborted)
      *flag = true;
    for (ncclapi::Comm comm : world.comms)
      windows.free(comm);
  };
  for (size_t program = 0; program < specs.size(); ++program)
    EXPECT_EQ(world.run(program, {.count = 10}), "");
  for (size_t rank = 0; isToBeHeard && rank < world.comms.size(); ++rank)
    world.joined[rank].rank->giveBack();
  world.joined.clear();
  const bool keepsSplit = windows.splits != 0 && windows.leaks().find("communicators") != std::string::npos;
  EXPECT_FALSE(isToBeHeard && keepsSplit) << "those are nobody else's to abort";
  EXPECT_TRUE(!aborted || calls == at) << "the rest is left as it is";
  return aborted;
}

/// Until it ends by itself. How often it was aborted.
template <typename Prepare, typename Trial>
uint64_t timesAborted(const std::vector<ProgramSpec> &specs, Prepare prepare, Trial trial) {
  for (uint64_t at = 1;; ++at) {
    SCOPED_TRACE("call " + std::to_string(at));
    FakeCuda fake;
    FakeWindows windows(fake);
    prepare(windows);
    if (!trial(at, fake, windows, specs))
      return at - 1;
  }
}

/// `givenBack`: calls of NCCL's for that.
template <typename Prepare>
void sweep(const std::vector<ProgramSpec> &specs, uint64_t givenBack, Prepare prepare) {
  EXPECT_NE(timesAborted(specs, prepare, abortAt), 0u);
  EXPECT_EQ(timesAborted(specs, prepare, abortWhileGivenBack<true>), givenBack);
  EXPECT_EQ(timesAborted(specs, prepare, abortWhileGivenBack<false>), givenBack);
}

TEST(LsaAbortSweep, OneTeam) {
  sweep({ringAllReduce(2, true), under(kernel::Protocol::LL, pairs(2))}, 4, [](FakeWindows &) {});
}

TEST(LsaAbortSweep, OverANetwork) {
  sweep({ringAllReduce(4, true), pairs(4)}, 12, [](FakeWindows &windows) { windows.teamSize = 2; });
}

TEST(LsaAbortSweep, TeamsApart) {
  sweep({pairs(4), under(kernel::Protocol::LL, pairs(4))}, 8, [](FakeWindows &windows) {
    windows.teamSize = 2;
    windows.hasPart = false;
    windows.windows = FakeWindows::Windows::OneTeam;
    windows.version = ncclapi::tellingVersion;
  });
}

} // namespace
