// SPDX-License-Identifier: Apache-2.0
// Tests what the processes of a gc3-run job exchange, and how a process checks data of the others. Threads stand for
// processes.
#include "JoinJob.h"
#include "Reference.h"
#include "RunProcesses.h"
#include "job/Assembly.h"

#include <gtest/gtest.h>

#include <future>

using namespace gc3;
using namespace gc3::run;
using gc3::test::runProcesses;

namespace {

TEST(RunJob, OneProcessMeetsItself) {
  Job job;
  EXPECT_EQ(job.ownRanks(6).size(), 6u);
  EXPECT_TRUE(job.divides(7));
  EXPECT_TRUE(job.printsProblems());
  const Share share = job.meet({"problem", "complaint", 2, 0.5, "text"});
  EXPECT_EQ(share.problem, "problem");
  EXPECT_EQ(share.complaint, "complaint");
  EXPECT_EQ(share.wrong, 2u);
  EXPECT_EQ(share.seconds, 0.5);
  EXPECT_EQ(share.text, "text");
  EXPECT_EQ(job.agree("again"), "again");
}

TEST(RunJob, ProcessesHaveEqualRangesOfRanks) {
  runProcesses(4, -1, [](Job &job) {
    EXPECT_TRUE(job.divides(8));
    EXPECT_FALSE(job.divides(2));
    EXPECT_FALSE(job.divides(6));
    EXPECT_EQ(job.name(), "rank " + std::to_string(job.process()));
    const core::RankRange own = job.ownRanks(8);
    EXPECT_EQ(own.first, 2 * job.process());
    EXPECT_EQ(own.end, own.first + 2);
    EXPECT_EQ(job.name(), "process " + std::to_string(job.process()) + " (ranks " + std::to_string(own.first) + " to " +
                              std::to_string(own.first + 1) + ")");
    job.ownRanks(4);
    EXPECT_EQ(job.name(), "rank " + std::to_string(job.process()));
  });
}

TEST(RunJob, AMeetingJoinsAllShares) {
  runProcesses(3, -1, [](Job &job) {
    const uint32_t process = job.process();
    const Share own{"", process == 0 ? "" : "complaint of " + std::to_string(process), process + 1, 0.5 * (3 - process),
                    std::string(process + 1, '\0')};
    const Share all = job.meet(own);
    EXPECT_EQ(all.problem, "");
    EXPECT_EQ(all.complaint, "complaint of 1");
    EXPECT_EQ(all.wrong, 6u);
    EXPECT_EQ(all.seconds, 1.5);
    EXPECT_EQ(all.text, std::string(1, '\0'));
    EXPECT_EQ(job.printsProblems(), process == 0);
  });
}

/// After a problem, no process waits for another.
TEST(RunJob, AProblemEndsTheJob) {
  runProcesses(3, -1, [](Job &job) {
    EXPECT_EQ(job.agree(job.process() == 0 ? "" : "no memory"), "rank 1: no memory");
    EXPECT_EQ(job.agree("own"), "own");
    EXPECT_EQ(job.agree(""), "");
    EXPECT_EQ(job.printsProblems(), job.process() == 0);
  });
  runProcesses(2, -1, [](Job &job) { EXPECT_EQ(job.agree("not a bundle"), "not a bundle"); });
}

TEST(RunJob, ALossOfAProcessEndsTheJob) {
  runProcesses(2, 1, [](Job &job) {
    EXPECT_EQ(job.agree(""), "");
    const std::string name = "rank " + std::to_string(job.process()) + ": ";
    const bool knowsMore = job.process() == 1;
    const Share rest = job.meet({knowsMore ? "step 3 waits for rank 7" : "", "complaint", 4, 0, ""});
    EXPECT_EQ(rest.problem, name + (knowsMore ? "step 3 waits for rank 7" : "rank 7, whose process 4711 has ended"));
    EXPECT_EQ(rest.complaint, "complaint");
    EXPECT_EQ(rest.wrong, 4u);
    EXPECT_TRUE(job.printsProblems());
    EXPECT_EQ(job.agree(""), "");
  });
  runProcesses(2, 0, [](Job &job) {
    if (job.process() != 1)
      return;
    job.ownRanks(6);
    EXPECT_EQ(job.agree(""),
              "process 1 (ranks 3 to 5): rank 7, whose process 4711 has ended (here, a rank is a process "
              "with 3 ranks of the program)");
  });
}

/// A process with a problem does not wait for the timeout of a minute, and its problem reaches the others.
TEST(RunJob, AProblemIsKnownSoon) {
  const auto port = static_cast<uint16_t>((*job::Listener::open(""))->endpoint().port);
  const auto join = [&](uint32_t rank) {
    return *joinJob({"gc3", rank, 2, rank, 2, "127.0.0.1", port, "a problem is known soon"});
  };
  std::future<Job> joining = std::async(std::launch::async, join, 0U);
  Job failing = join(1), late = joining.get();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(failing.agree("step 3 waits for rank 0"), "rank 1: step 3 waits for rank 0");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  const std::string loss = "rank 1, which has failed: step 3 waits for rank 0";
  EXPECT_EQ(late.awaitLoss()(std::chrono::minutes(1)), loss);
  EXPECT_EQ(late.agree(""), "rank 0: " + loss);
}

TEST(RunJob, OtherBytesAreNoShare) {
  const std::vector<uint8_t> bytes = writeShare({"a", "bc", 3, 4, "def"});
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(readShare(std::span(bytes).first(size)));
  std::vector<uint8_t> longer = bytes;
  longer.push_back(0);
  EXPECT_FALSE(readShare(longer));
  for (size_t length = 16; length < 40; length += 8) {
    std::vector<uint8_t> huge = bytes;
    huge[length + 7] = 0xff;
    EXPECT_FALSE(readShare(huge));
  }
  EXPECT_EQ(readShare(writeShare({"", std::string(1 << 20, 'x'), 0, 0, ""}))->complaint.size(), size_t{64} << 10);
  const auto gather = [&](const Job::Bytes &own, const std::string &) -> core::Result<std::vector<Job::Bytes>> {
    return std::vector{own, longer};
  };
  EXPECT_EQ(Job(0, 2, gather).agree(""), "rank 0: rank 1 has another version of gc3-run");
}

/// A process makes any part of another rank's input, with the same values.
TEST(RunJob, InputsAreMadeInParts) {
  constexpr uint64_t n = 257;
  for (int type = 0; type < gc3NumTypes; ++type)
    for (Purpose purpose :
         {Purpose::Copy, Purpose::Sum, Purpose::MulSum, Purpose::Avg, Purpose::Prod, Purpose::Max, Purpose::Min}) {
      const InputKind kind{static_cast<core::ElementType>(type), purpose, 100, 100, 7, 3};
      const size_t size = core::elementSize(kind.type);
      std::vector<std::byte> whole(n * size), parts(n * size);
      makeInput(kind, whole.data(), 0, n, 42);
      for (uint64_t first = 0; first < n; first += 19)
        makeInput(kind, parts.data() + first * size, first, std::min<uint64_t>(19, n - first), 42);
      EXPECT_EQ(whole, parts) << core::elementTypeName(kind.type) << " " << static_cast<int>(purpose);
    }
}

/// Rank 1 of 3 checks an AllGather: it has its own input, and makes the others.
TEST(RunJob, CopiesOfOtherRanksAreChecked) {
  constexpr uint32_t ranks = 3;
  constexpr uint64_t n = 3000; // several batches
  const std::vector<uint32_t> valueBegin = {0, 1, 2, 3}, rowOfRank(ranks, 0), rowBegin = {0, 3}, rows = {1, 2, 3};
  const std::vector<bundle::fbs::Run> runs = {{0, 0, 0, 0, 1}, {1, 0, 0, 0, 1}, {2, 0, 0, 0, 1}};
  const core::RankRange own{1, 2};
  Postcondition post;
  ASSERT_EQ(post.load({valueBegin, runs, rowOfRank, rowBegin, rows}, std::vector<uint64_t>(ranks, 1),
                      std::vector<uint64_t>(ranks, ranks), own),
            "");
  const InputKind kind{core::ElementType::Float, Purpose::Copy, ranks, 1, 5, 0};
  std::vector<float> output(ranks * n);
  for (uint32_t rank = 0; rank < ranks; ++rank)
    makeInput(kind, &output[rank * n], 0, n, rank);
  const std::vector<float> input(&output[n], &output[2 * n]);
  const CheckJob check{&post,
                       kind,
                       Reduction::Sum,
                       0,
                       {1, n, n},
                       {ranks, ranks * n, n},
                       own,
                       {reinterpret_cast<const std::byte *>(input.data())},
                       {reinterpret_cast<const std::byte *>(output.data())}};
  EXPECT_EQ(checkOutputs(check).wrong, 0u);
  output[2 * n + 2999] += 1;
  output[17] += 1;
  const CheckResult result = checkOutputs(check);
  EXPECT_EQ(result.wrong, 2u);
  EXPECT_TRUE(result.first.starts_with("rank 1 chunk 0 element 17 of it: got ")) << result.first;
}

} // namespace
