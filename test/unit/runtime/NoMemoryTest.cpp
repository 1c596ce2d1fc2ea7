// SPDX-License-Identifier: Apache-2.0
// Tests calls in which memory runs out, and that repeated calls need none. Each allocation of the call fails once.
#include "ApiGroup.h"
#include "CountAllocations.h"

#include "core/LearnedTimes.h"
#include "core/SequentialSelection.h"

#include <bit>
#include <filesystem>
#include <unistd.h>

using namespace gc3::test;

namespace {

constexpr int ranks = 3;

struct Calls {
  Data send = ramp(ranks, 100), recv = Data(ranks, std::vector<float>(100));

  gc3Result_t make(Group &group, uint64_t successes, bool &hasFailed) {
    EXPECT_EQ(gc3GroupStart(), gc3Success);
    for (size_t r = 0; r < ranks; ++r)
      EXPECT_EQ(gc3AllReduce(send[r].data(), recv[r].data(), 100, gc3Float32, gc3Max, group.comms[r], nullptr),
                gc3Success);
    const FailOneAllocation failure(successes);
    const gc3Result_t result = gc3GroupEnd();
    hasFailed = failure.hasFailed();
    return result;
  }
};

/// Makes first calls in which the first allocation fails, then the second one, and so on, until all allocations of a
/// call succeed. A call runs or returns an error, and a later call runs. Returns the number of calls that ran although
/// an allocation failed.
int runOutOfMemory(const gc3HostConfig_t &config) {
  ProgramSpec chain = writesInput(ranks), ring = ringAllReduce(ranks, true);
  chain.name = "chain", ring.name = "ring";
  int ran = 0;
  bool hasFailed = true;
  for (uint64_t successes = 0; hasFailed; ++successes) {
    Group group({chain, ring}, ranks, config);
    for (const uint64_t number : {successes, UINT64_MAX - 1}) {
      Calls calls;
      bool failed = false;
      const gc3Result_t result = calls.make(group, number, failed);
      if (number == successes)
        hasFailed = failed;
      if (result == gc3Success)
        EXPECT_EQ(calls.recv, Data(ranks, calls.send[2])) << successes;
      else
        EXPECT_EQ(result, failed ? gc3SystemError : gc3Success) << successes << ": " << gc3GetLastError(nullptr);
      ran += failed && result == gc3Success;
    }
  }
  return ran;
}

/// Two programs without a description.
class TwoPrograms : public gc3::core::ArmSource {
public:
  gc3::core::Result<gc3::core::CallArms> arms(const gc3::core::Request &request) override {
    return gc3::core::CallArms{{0, 1}, 0, request.count * 4};
  }
  const gc3::core::Program *programOf(uint32_t) override { return nullptr; }
};

} // namespace

/// Many different requests in turn: once warm, no search allocates. Requests that were forgotten are found again.
TEST(NoMemory, FindingTheKindOfARequestAllocatesNothing) {
  TwoPrograms programs;
  gc3::core::SequentialSelection selection(programs, {}, {}, {}, {});
  const auto findAll = [&](uint64_t count) {
    uint64_t right = 0;
    for (uint64_t i = 1; i <= count; ++i) {
      const auto kind =
          selection.find({gc3::core::CallKind::Standard, "allreduce", nullptr, nullptr, i << 10, gc3Float32, gc3Max});
      right += kind.family && kind.shared && kind.bucket == static_cast<uint32_t>(std::bit_width(i)) + 11;
    }
    return right;
  };
  EXPECT_EQ(findAll(500), 500U);
  const uint64_t before = countAllocations();
  EXPECT_EQ(findAll(500), 500U);
  EXPECT_EQ(countAllocations(), before);
  EXPECT_EQ(findAll(10000), 10000U);
  EXPECT_EQ(findAll(500), 500U);
}

TEST(NoMemory, ACallFailsAndTheNextOneRuns) {
  EXPECT_EQ(runOutOfMemory(GC3_HOST_CONFIG_INITIALIZER), 0);
}

/// If memory runs out while a choice is made, the fixed program runs.
TEST(NoMemory, ACallWithoutAChoiceRuns) {
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  config.tune = gc3TuneOnline;
  EXPECT_GT(runOutOfMemory(config), 0);
}

/// A communicator ends, whichever allocation fails while it saves its times. The file is whole, or there is none.
TEST(NoMemory, ACommunicatorEndsWithoutItsTimes) {
  using namespace gc3;
  const std::string path = testing::TempDir() + "gc3-no-memory-" + std::to_string(getpid());
  core::TuneOptions options;
  options.isOnline = true, options.file = path;
  const auto learn = [] {
    return select::TuneFile{"a machine with a long name, and many threads",
                            7,
                            {{"allreduce", "float/sum/shared", true, 3, 1}},
                            {{0, 12, "a_program_with_a_long_name", 9, 35.2F, 0.04F, 1764217377}}};
  };
  int failures = 0;
  bool hasFailed = true;
  for (uint64_t successes = 0; hasFailed; ++successes) {
    std::filesystem::remove(path);
    {
      const FailOneAllocation failure(successes);
      core::saveLearnedAtEnd(options, learn);
      hasFailed = failure.hasFailed();
    }
    const select::TuneResult file = select::loadTuneFile(path);
    EXPECT_TRUE(file.ok() ? file->rows.size() == 1 : file.outcome().error == select::TuneError::Missing) << successes;
    failures += hasFailed;
  }
  EXPECT_GT(failures, 5);
  EXPECT_TRUE(std::filesystem::exists(path));
  std::filesystem::remove(path);
  std::filesystem::remove(path + ".lock");
}
