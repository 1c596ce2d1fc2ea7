// SPDX-License-Identifier: Apache-2.0
// Tests gc3-run with --backend nccl over the fakes. Threads stand for processes; each has its own fake GPU.
#include "ApiSupport.h"
#include "InstalledFakes.h"
#include "RunProcesses.h"
#include "RunSupport.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <future>
#include <regex>

using namespace gc3;
using namespace gc3::run;
using namespace gc3::test;

namespace {

// Uses few threads, because emulated GPUs are slow. The process reads its environment later, in the first test.
const int fewThreads = setenv("GC3_THREADS", "32", 1);

class RunNccl : public testing::Test {
protected:
  RunNccl() { fake.waits = true; }
  ~RunNccl() override {
    EXPECT_EQ(leaksAtEnd(nccl), "");
    linkedCuda = &FakeCuda::table();
    hasNccl = true;
  }

  static Options onNccl(const BundlePath &bundle) {
    Options options = checkOnly(bundle.path);
    options.backend = Backend::Nccl;
    options.host.slotBytes = 256;
    options.counts = {17};
    return options;
  }

  /// Runs one process for each rank. Returns the result of rank 0, whose problem is that of all.
  static test::Result runRanks(uint32_t ranks, const Options &options) {
    std::vector<test::Result> results(ranks);
    testing::internal::CaptureStdout();
    runProcesses(ranks, -1, [&](Job &job) {
      Options own = options;
      own.processes = ranks;
      own.quiet = !job.isFirst();
      test::Result &result = results[job.process()];
      const std::string problem = Runner(own, job).run(result.summary);
      result.problem = job.agree(problem);
    });
    results[0].table = testing::internal::GetCapturedStdout();
    for (const test::Result &result : results) {
      EXPECT_EQ(result.problem, results[0].problem);
      EXPECT_EQ(result.summary.wrong, results[0].summary.wrong);
    }
    return results[0];
  }

  static std::string jsonOf(const Options &options, const Summary &summary) {
    const std::string path = options.bundle + ".json";
    EXPECT_EQ(writeJson(path, options, summary), "");
    std::ifstream file(path);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    std::remove(path.c_str());
    return text;
  }

  /// Returns the sorted events that match the pattern. Addresses in them are replaced by `*`.
  std::vector<std::string> events(const std::string &pattern) {
    std::vector<std::string> matching;
    for (const std::string &event : nccl.takeEvents())
      if (std::regex_search(event, std::regex(pattern)))
        matching.push_back(std::regex_replace(event, std::regex("0x[0-9a-f]+"), "*"));
    std::sort(matching.begin(), matching.end());
    return matching;
  }

  FakeCuda fake;
  FakeNccl nccl{fake};
};

using Events = std::vector<std::string>;

TEST_F(RunNccl, ChecksAllTypesAndOperations) {
  const BundlePath bundle({ringAllReduce(3, true), allToAll(3, 2), shiftReversed(3, 2), ringAllReduce(2, true)});
  Options options = onNccl(bundle);
  useAllTypesAndOps(options);
  options.counts = {0, 17};
  const test::Result result = runRanks(3, options);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.summary.wrong, 0u) << result.table;
  const size_t reducing = 1, copying = 2; // the program for 2 ranks does not run
  EXPECT_EQ(result.summary.rows.size(), gc3NumTypes * options.counts.size() * (reducing * reductionCount + copying));
  EXPECT_EQ(events("GetUniqueId|CommInit|CommDestroy"),
            (Events{"CommDestroy(c0)", "CommDestroy(c1)", "CommDestroy(c2)", "CommInitRank(3, id, 0)",
                    "CommInitRank(3, id, 1)", "CommInitRank(3, id, 2)", "GetUniqueId()"}));
}

TEST_F(RunNccl, EachRankHasItsGpu) {
  const BundlePath bundle({ringAllReduce(3, true)});
  Options options = onNccl(bundle);
  options.iterations = 2;
  const test::Result result = runRanks(3, options);
  EXPECT_EQ(result.problem, "");
  EXPECT_NE(result.table.find("# backend nccl, order fair, check 1, rounds auto\n# processes 3\n# NCCL 2.28.9\n#\n"),
            std::string::npos)
      << result.table;
  EXPECT_GT(result.summary.rows.at(0).placement[0].microseconds, 0);
  for (int device : {0, 1, 2})
    EXPECT_FALSE(fake.callsOf(device).empty()) << device;
  EXPECT_EQ(fake.callsOf(3), std::vector<std::string>());
}

TEST_F(RunNccl, AProcessHasOneRank) {
  const BundlePath bundle({ringAllReduce(3, true)});
  EXPECT_EQ(runRanks(2, onNccl(bundle)).problem,
            bundle.path + ": no program is for 2 ranks, and with --backend nccl each process has one rank; the bundle "
                          "has:\n  'ring3_aliased_1': allreduce on 3 ranks, all sizes");
  EXPECT_EQ(runOptions(onNccl(bundle)).problem,
            "--backend nccl has one rank in each process, and needs two processes or more; start as many as the "
            "program has ranks, with --processes or a launcher such as mpirun");
}

/// Process 5 of 8 is the second one on its host, which has 4.
TEST_F(RunNccl, TheGpuIsThatOfTheNumberOnTheHost) {
  const Job job(5, 8, {}, {1, 4});
  NcclRank rank(FakeCuda::table());
  EXPECT_EQ(rank.prepare(job), "");
  EXPECT_EQ(rank.device(), 1);
  EXPECT_EQ(FakeCuda::currentDevice, 1);
  EXPECT_EQ(rank.version(), "2.28.9");
  FakeCuda::currentDevice = 0;
}

/// Each process writes a file for its rank. Only the first size is traced.
TEST_F(RunNccl, WritesTraces) {
  const BundlePath bundle({ringAllReduce(2, true)});
  Options options = onNccl(bundle);
  options.counts = {17, 9};
  options.trace = bundle.path + ".trace.json";
  const test::Result result = runRanks(2, options);
  EXPECT_EQ(result.problem, "");
  EXPECT_NE(result.table.find(".trace.0.json and 1 files of other processes, the first size only"), std::string::npos)
      << result.table;
  for (const char *rank : {"0", "1"}) {
    const std::string path = bundle.path + ".trace." + rank + ".json";
    std::ifstream file(path);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    EXPECT_NE(text.find("\"name\":\"ring2_aliased_1\""), std::string::npos) << text;
    std::remove(path.c_str());
  }
}

TEST_F(RunNccl, FindsAMissingContribution) {
  ProgramSpec spec = plainRingAllReduce(3);
  spec.ranks[1].blocks[1].steps[1] = {Opcode::Copy, in(0), scratch(0), 1, {}};
  const BundlePath bundle({spec});
  Options options = onNccl(bundle);
  options.counts = {200};
  testing::internal::CaptureStderr();
  const test::Result result = runRanks(3, options);
  const std::string complaint = testing::internal::GetCapturedStderr();
  EXPECT_NE(complaint.find("gc3-run: rank 1: "), std::string::npos) << complaint;
  EXPECT_EQ(result.problem, "");
  EXPECT_GT(result.summary.wrong, 50u);
}

/// The program and NCCL take turns of 3 calls after 1 untimed one, 5 times, out of place and in place.
TEST_F(RunNccl, TheBaselineIsTimedInTurns) {
  const BundlePath bundle({ringAllReduce(2, true)});
  Options options = onNccl(bundle);
  options.timesNccl = true;
  options.iterations = 3;
  options.warmup = 1;
  const test::Result result = runRanks(2, options);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.summary.wrong, 0u);
  const Events made = events("AllReduce");
  EXPECT_EQ(made.size(), 2u * 2 * 5 * 4);
  EXPECT_EQ(std::count(made.begin(), made.end(), "AllReduce(*, *, 17, 7, 0, c0, *)"), 40);
  EXPECT_EQ(std::count(made.begin(), made.end(), "AllReduce(*, *, 17, 7, 0, c1, *)"), 40);
  for (const Measurement &measurement : result.summary.rows.at(0).placement) {
    EXPECT_GT(measurement.microseconds, 0);
    EXPECT_GT(measurement.ncclMicroseconds, 0);
  }
  const std::regex inJson("\"out_of_place\": .*, \"nccl_us\": [0-9.]+}, \"in_place\": .*, \"nccl_us\": [0-9.]+}}");
  EXPECT_TRUE(std::regex_search(jsonOf(options, result.summary), inJson));
  EXPECT_EQ(jsonOf(onNccl(bundle), result.summary).find("nccl_us"), std::string::npos);
  EXPECT_TRUE(std::regex_search(
      result.table, std::regex("  program          nccl-out  speed-up   nccl-in  speed-up\n.*  +\\(us\\) +\\(us\\)\n"
                               ".*  ring2_aliased_1( +[0-9]+\\.[0-9][0-9]){4}\n")))
      << result.table;
}

/// NCCL's functions get the arguments of the collective that the program has.
TEST_F(RunNccl, TheBaselineHasTheSameArguments) {
  const BundlePath bundle({allToAll(2, 1)});
  Options options = onNccl(bundle);
  options.timesNccl = true;
  options.iterations = 1;
  options.warmup = 0;
  options.outOfPlace = false;
  options.types = {gc3Int8};
  EXPECT_EQ(runRanks(2, options).problem, "");
  EXPECT_EQ(events("AlltoAll"),
            (Events{"AlltoAll(*, *, 17, 0, c0, *)", "AlltoAll(*, *, 17, 0, c0, *)", "AlltoAll(*, *, 17, 0, c0, *)",
                    "AlltoAll(*, *, 17, 0, c0, *)", "AlltoAll(*, *, 17, 0, c0, *)", "AlltoAll(*, *, 17, 0, c1, *)",
                    "AlltoAll(*, *, 17, 0, c1, *)", "AlltoAll(*, *, 17, 0, c1, *)", "AlltoAll(*, *, 17, 0, c1, *)",
                    "AlltoAll(*, *, 17, 0, c1, *)"}));
}

TEST_F(RunNccl, TheBaselineMultipliesInputs) {
  const BundlePath bundle({ringAllReduce(2, true)});
  Options options = onNccl(bundle);
  options.timesNccl = true;
  options.iterations = 1;
  options.warmup = 0;
  options.inPlace = false;
  options.ops = {Reduction::MulSum};
  EXPECT_EQ(runRanks(2, options).problem, "");
  const Events made = events("RedOp");
  EXPECT_EQ(made.size(), 2u * 5 * 2);
  EXPECT_EQ(std::count(made.begin(), made.end(), "RedOpCreatePreMulSum(7, 1, c0)"), 5);
}

/// NCCL has no such collective, or the program promises something else.
TEST_F(RunNccl, CustomCollectivesHaveNoBaseline) {
  ProgramSpec other = ringAllReduce(2, true);
  other.name = "keeps";
  for (auto &output : other.outputs)
    for (auto &chunk : output)
      chunk.resize(1);
  const BundlePath bundle({shiftReversed(2, 2), other});
  Options options = onNccl(bundle);
  options.timesNccl = true;
  options.check = false;
  options.iterations = 1;
  const test::Result result = runRanks(2, options);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.summary.rows.size(), 2u);
  for (const Row &row : result.summary.rows)
    EXPECT_EQ(row.columns, "         -         -         -         -") << row.program;
  EXPECT_EQ(events("AllReduce|AlltoAll"), Events());
  EXPECT_NE(jsonOf(options, result.summary).find("\"nccl_us\": null}"), std::string::npos);
}

TEST_F(RunNccl, SaysWhatIsMissing) {
  const BundlePath bundle({ringAllReduce(2, true)});
  const Options options = onNccl(bundle);
  cuda::Cuda other = FakeCuda::table();
  other.deviceCount = [](int *) { return cuda::insufficientDriver; };
  other.driverVersion = [](int *version) { return *version = 0; };
  linkedCuda = &other;
  EXPECT_EQ(runRanks(2, options).problem, "--backend nccl needs an NVIDIA GPU: no NVIDIA driver");
  other.deviceCount = [](int *) { return 100; };
  EXPECT_EQ(runRanks(2, options).problem,
            "--backend nccl needs an NVIDIA GPU: counting GPUs: fake failure (CUDA error 100)");
  linkedCuda = &FakeCuda::table();
  fake.devices = 1;
  EXPECT_TRUE(
      std::regex_match(runRanks(2, options).problem,
                       std::regex("--backend nccl needs a GPU for each process, but host .+ has 1 for 2 processes; "
                                  "NCCL 2.30.3 and later let them share GPUs with NCCL_MULTI_RANK_GPU_ENABLE=1")));
  fake.devices = 2;
  nccl.version = 22706;
  EXPECT_EQ(runRanks(2, options).problem,
            "--backend nccl needs NCCL: the installed NCCL is version 22706; 22807 or later is required");
  nccl.version = 22809;
  hasNccl = false;
  EXPECT_EQ(runRanks(2, options).problem, "--backend nccl needs NCCL: no NCCL found");
}

TEST_F(RunNccl, SharesGpusIfNcclDoes) {
  const BundlePath bundle({ringAllReduce(2, true)});
  fake.devices = 1;
  setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 1);
  const test::Result result = runRanks(2, onNccl(bundle));
  unsetenv("NCCL_MULTI_RANK_GPU_ENABLE");
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.summary.wrong, 0u) << result.table;
}

TEST_F(RunNccl, NamesTheRankOfAnError) {
  const BundlePath bundle({ringAllReduce(2, true)});
  const Options options = onNccl(bundle);
  fake.failFunction = {"CUDA setDevice", 1};
  EXPECT_EQ(runRanks(2, options).problem, "rank 1: choosing GPU 1: fake failure (CUDA error 2)");
  fake.failFunction.reset();
  nccl.fail("GetUniqueId", FakeNccl::failure);
  EXPECT_EQ(runRanks(2, options).problem,
            bundle.path + ": rank 0: ncclGetUniqueId: NCCL error 2; NCCL_DEBUG=WARN shows why");
  nccl.fail("CommInitRank", FakeNccl::failure);
  const std::string problem = runRanks(2, options).problem;
  EXPECT_TRUE(problem.starts_with(bundle.path + ": rank ")) << problem;
  EXPECT_TRUE(problem.ends_with(": ncclCommInitRank: NCCL error 2; NCCL_DEBUG=WARN shows why")) << problem;
}

TEST_F(RunNccl, NamesTheRankOfAnErrorInTheBaseline) {
  const BundlePath bundle({ringAllReduce(2, true)});
  Options options = onNccl(bundle);
  options.timesNccl = true;
  options.iterations = -1;
  nccl.fail("AllReduce", FakeNccl::failure);
  const std::string problem = runRanks(2, options).problem;
  EXPECT_TRUE(problem.starts_with(bundle.path + ": program 'ring2_aliased_1': rank ")) << problem;
  EXPECT_TRUE(problem.ends_with(": ncclAllReduce: NCCL error 2; NCCL_DEBUG=WARN shows why")) << problem;
}

/// A communicator that does not block completes later; NCCL_COMM_BLOCKING=0 sets this for all.
TEST_F(RunNccl, CommunicatorsThatDoNotBlock) {
  const BundlePath bundle({ringAllReduce(2, true)});
  nccl.alwaysBlocking = 0;
  EXPECT_EQ(runRanks(2, onNccl(bundle)).problem, "");
}

TEST_F(RunNccl, UnprovenProgramsNeedTheOption) {
  ProgramSpec spec = ringAllReduce(2, true);
  spec.verified = 0;
  const BundlePath bundle({spec});
  Options options = onNccl(bundle);
  const std::string problem = runRanks(2, options).problem;
  EXPECT_TRUE(problem.ends_with(" or --allow-unproven 1")) << problem;
  options.host.allowUnproven = 1;
  EXPECT_EQ(runRanks(2, options).problem, "");
}

TEST(RunLossWatch, EndsAProcessThatWaits) {
  const auto neverGathers = [](const Job::Bytes &, const std::string &) -> core::Result<std::vector<Job::Bytes>> {
    return core::Outcome{gc3Timeout, ""};
  };
  const auto loseRank2 = [](std::chrono::milliseconds) {
    return std::string("rank 2, whose process 4711 on host a has ended");
  };
  const Job job(1, 3, neverGathers, {1, 3}, loseRank2);
  EXPECT_EXIT(
      {
        const LossWatch watch(job, std::chrono::milliseconds(1));
        std::promise<void>().get_future().wait();
      },
      testing::ExitedWithCode(1), "^gc3-run: rank 1: rank 2, whose process 4711 on host a has ended\n$");
}

TEST(RunLossWatch, LetsAProcessEndByItself) {
  const Job alone;
  const LossWatch none(alone, std::chrono::milliseconds(0));
  std::atomic<int> calls = 0;
  const Job job(1, 3, {}, {1, 3},
                [&](std::chrono::milliseconds) { return std::string(++calls > 3 ? "rank 2 is lost" : ""); });
  const LossWatch watch(job, std::chrono::hours(1));
  awaitThat([&] { return calls > 3; });
}

} // namespace
