// SPDX-License-Identifier: Apache-2.0
// Tests gc3-run with --backend cuda, and the C API that it uses, on the fake CUDA, which replaces the CUDA runtime.
#include "RunSupport.h"

#include "FakeCuda.h"

#include <cstdlib>
#include <memory>

using namespace gc3;
using namespace gc3::run;
using namespace gc3::test;

static const cuda::Cuda *linked = &FakeCuda::table();

const cuda::Cuda *cuda::linkedCuda() {
  return linked;
}

namespace {

// Uses few threads, because emulated GPUs are slow. The process reads its environment later, in the first test.
const int fewThreads = setenv("GC3_THREADS", "32", 1);

class RunOnGpu : public testing::Test {
protected:
  static Options onGpu(const std::string &bundle) {
    Options options = checkOnly(bundle);
    options.backend = Backend::Cuda;
    options.host.slotBytes = 256;
    options.counts = {0, 1, 17, 200};
    return options;
  }
};

TEST_F(RunOnGpu, AllTypesAndOperations) {
  const BundlePath bundle({ringAllReduce(3, true), plainRingAllReduce(2), allToAll(3, 2), writesInput(3)});
  FakeCuda fake;
  Options options = onGpu(bundle.path);
  useAllTypesAndOps(options);
  const Result result = runOptions(options);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.summary.wrong, 0u) << result.table;
  const size_t reducing = 3, copying = 1, types = gc3NumTypes;
  EXPECT_EQ(result.summary.rows.size(), types * options.counts.size() * (reducing * reductionCount + copying));
  EXPECT_GT(fake.launches, result.summary.rows.size());
  EXPECT_EQ(fake.leaks(), "");
}

/// gc3-run uses a plain sum for collectives that only copy, so scalars do not change their expected outputs.
TEST_F(RunOnGpu, CopiesHaveNoReduction) {
  const BundlePath bundle({allToAll(3, 2), shiftReversed(3, 2), writesInput(3)});
  for (bool gpu : {false, true}) {
    const FakeCuda fake;
    Options options = onGpu(bundle.path);
    options.backend = gpu ? Backend::Cuda : Backend::Host;
    options.ops = {Reduction::MulSum};
    const Result result = runOptions(options);
    EXPECT_EQ(result.problem, "");
    EXPECT_EQ(result.summary.wrong, 0u) << result.table;
    EXPECT_EQ(fake.launches > 0, gpu);
  }
}

TEST_F(RunOnGpu, FindsAMissingContribution) {
  ProgramSpec spec = plainRingAllReduce(3);
  spec.ranks[1].blocks[1].steps[1] = {Opcode::Copy, in(0), scratch(0), 1, {}};
  const BundlePath bundle({spec});
  FakeCuda fake;
  Options options = onGpu(bundle.path);
  options.counts = {200};
  testing::internal::CaptureStderr();
  const Result result = runOptions(options);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("rank 1 chunk 0 element"), std::string::npos);
  EXPECT_EQ(result.problem, "");
  EXPECT_GT(result.summary.wrong, 50u);
  EXPECT_EQ(fake.leaks(), "");
}

/// Also makes timed calls.
TEST_F(RunOnGpu, AllRanksShareIt) {
  const BundlePath bundle({ringAllReduce(3, true)});
  FakeCuda fake;
  Options options = onGpu(bundle.path);
  options.iterations = 2;
  options.ranksPerGpu = 3;
  EXPECT_EQ(runOptions(options).problem, "");
  options.ranksPerGpu = 2;
  EXPECT_EQ(runOptions(options).problem,
            bundle.path + ": programs on 3 ranks do not run with 2 ranks per GPU; all ranks must share one GPU");
  EXPECT_EQ(fake.leaks(), "");
}

TEST_F(RunOnGpu, SaysHowManyRanksALaunchHas) {
  const BundlePath bundle({ringAllReduce(33, true)});
  const FakeCuda fake;
  EXPECT_EQ(runOptions(onGpu(bundle.path)).problem,
            bundle.path + ": program 'ring33_aliased_1' has 33 ranks; one GPU can run at most 32");
  EXPECT_EQ(fake.leaks(), "");
}

TEST_F(RunOnGpu, SaysHowManyBlocksFit) {
  const BundlePath bundle({ringAllReduce(3, true)});
  FakeCuda fake;
  fake.multiprocessors = 2;
  fake.threadsPerMultiprocessor = 32;
  EXPECT_EQ(
      runOptions(onGpu(bundle.path)).problem,
      bundle.path +
          ": program 'ring3_aliased_1' has 3 thread blocks on its 3 ranks; this GPU can hold 2 at once, of 32 threads "
          "each");
  EXPECT_EQ(fake.leaks(), "");
}

/// Without a driver, the CUDA runtime reports an insufficient driver of version 0.
TEST_F(RunOnGpu, SaysThatThereIsNoDriver) {
  const BundlePath bundle({ringAllReduce(2, true)});
  const FakeCuda fake;
  cuda::Cuda withoutDriver = FakeCuda::table();
  withoutDriver.getDevice = [](int *) { return cuda::insufficientDriver; };
  withoutDriver.driverVersion = [](int *version) { return *version = 0; };
  linked = &withoutDriver;
  EXPECT_EQ(runOptions(onGpu(bundle.path)).problem, bundle.path + ": no NVIDIA driver");
  withoutDriver.driverVersion = FakeCuda::table().driverVersion;
  EXPECT_EQ(runOptions(onGpu(bundle.path)).problem,
            bundle.path + ": querying the current device: fake failure (CUDA error 35)");
  linked = &FakeCuda::table();
}

/// Makes each CUDA call fail in turn. gc3-run must report the error, and nothing may leak.
TEST_F(RunOnGpu, EveryCallMayFail) {
  const BundlePath bundle({ringAllReduce(2, true)});
  uint64_t calls = 1;
  for (uint64_t failing = 0; failing <= calls; ++failing) { // 0: no call fails
    FakeCuda fake;
    fake.failAt = failing;
    Options options = onGpu(bundle.path);
    options.counts = {9};
    const Result result = runOptions(options);
    if (failing == 0) {
      EXPECT_EQ(result.problem, "");
      calls = fake.calls;
    } else if (failing == calls) { // the last call queries for running kernels, and gc3-run ignores its error
      EXPECT_EQ(result.problem, "");
    } else {
      EXPECT_TRUE(result.problem.ends_with(": fake failure (CUDA error 2)")) << failing << ": " << result.problem;
    }
    EXPECT_EQ(fake.leaks(), "") << "call " << failing;
  }
  EXPECT_GT(calls, 40u);
}

} // namespace
