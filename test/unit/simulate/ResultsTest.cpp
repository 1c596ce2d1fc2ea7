// SPDX-License-Identifier: Apache-2.0
// Reads measured times in each format.
#include "CheckResults.h"
#include "ReadResults.h"

#include <gtest/gtest.h>

using namespace gc3;

namespace {

const std::string rowsOfRun = R"({"rows": [
  {"size": 4096, "time": 10.5, "program": "ring", "collective": "allreduce", "ranks": 8, "type": "half"},
  {"size": 8192, "out_of_place": {"time_us": 12}, "in_place": {"time_us": null}}]})";
const std::string points = R"({"points": [{"machine": "m", "collective": "alltoall", "kernel": "k", "ranks": 2,
  "bytes": 64, "time": 3}]})";
const std::string table = "# allreduce on 8 ranks\n"
                          "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong program\n"
                          "  1024  256  float  sum  -1  5.25  0.2  0.3  0  -  -  -  -  ring\n"
                          "Avg bus bandwidth: 0.3\n";

std::string errorOfResults(const std::string &text) {
  std::vector<sim::Measured> rows;
  return sim::readResults(text, rows);
}

} // namespace

TEST(Results, HaveSeveralFormats) {
  std::vector<sim::Measured> rows;
  for (const std::string &text : {rowsOfRun, points, table})
    EXPECT_EQ(sim::readResults(text, rows), "");
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].bytes, 4096u);
  EXPECT_EQ(rows[0].program + rows[0].collective + rows[0].type, "ringallreducehalf");
  EXPECT_EQ(rows[0].inPlace, 10.5);
  EXPECT_EQ(rows[1].outOfPlace, 12);
  EXPECT_EQ(rows[1].inPlace, 0);
  EXPECT_EQ(rows[2].machine + rows[2].program, "mk");
  EXPECT_EQ(rows[2].ranks, 2u);
  EXPECT_EQ(rows[3].program + rows[3].collective, "ringallreduce");
  EXPECT_EQ(rows[3].ranks, 8u);
  EXPECT_EQ(rows[3].outOfPlace, 5.25);
}

/// The tables of two tests, with lines of NCCL and of the launcher.
TEST(Results, AreAmongOtherLines) {
  const std::string log = R"(NCCL version 2.18.3+cuda12.1
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 8 minBytes 1024 maxBytes 1024 step: 8(factor) warmup iters: 1
#  Rank  0 Group  0 Pid 1 on n device  0 [0000:07:00] NVIDIA A100
#  Rank  7 Group  0 Pid 1 on n device  7 [0000:bd:00] NVIDIA A100
[1,0]<stdout>:  1024 256 float sum -1 31.2 0.03 0.06 0 30.9 0.03 0.06 N/A
node01:123:456 [0] NCCL INFO one two three four five six seven eight nine ten
# Out of bounds values : 0 OK
# Collective test starting: reduce_scatter_perf
# nThread 1 nGpus 4 minBytes 8192 maxBytes 8192 step: 8(factor) warmup iters: 1
0:  8192 256 float none -1 25.2 0.03 0.06 0 24.9 0.03 0.06 0
)";
  std::vector<sim::Measured> rows;
  EXPECT_EQ(sim::readResults(log, rows), "");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].collective + " " + rows[1].collective, "allreduce reduce_scatter");
  EXPECT_EQ(rows[0].ranks, 8u);
  EXPECT_EQ(rows[1].ranks, 0u);
  EXPECT_EQ(rows[1].inPlace, 24.9);
}

TEST(Results, RefuseWrongTexts) {
  EXPECT_EQ(errorOfResults(""), "there are no measured times");
  EXPECT_EQ(errorOfResults("{}"), "the object has neither 'rows' nor 'points'");
  EXPECT_EQ(errorOfResults("{\"rows\": " + std::string(200'000, '[')), "nested too deeply");
  EXPECT_EQ(errorOfResults(R"({"rows": [{"size": 1, "time": -1}]})"),
            "rows[0]: time: must be a number of microseconds of at least 0");
  EXPECT_EQ(errorOfResults(R"({"rows": [{"size": 1, "time": 0}]})"), "there are no measured times");
  EXPECT_EQ(errorOfResults("hello\n"), "there are no measured times");
  EXPECT_EQ(errorOfResults("1024 256 float sum -1 5.25 0.2 0.3 0\n"), "line 1: a row has at least 13 columns");
  EXPECT_EQ(errorOfResults("1024 256 float sum -1 5.25 0.2 0.3 0 5.25 0.2 0.3 7\n"),
            "line 1: the call has 7 wrong elements");
  EXPECT_EQ(errorOfResults("1024 256 float sum -1 fast 0.2 0.3 0 5.25 0.2 0.3 0\n"),
            "line 1: a time must be a number of microseconds or '-'");
}

/// Texts that differ from valid ones in a few bytes are read or refused. The fuzzer checks the same property.
TEST(Results, ChangedTextsAreReadOrRefused) {
  const std::string seeds[] = {rowsOfRun, points, table};
  uint32_t state = 1, accepted = 0;
  const auto below = [&](size_t limit) { return (state = state * 1664525 + 1013904223) / 65536 % limit; };
  for (int round = 0; round < 4000; ++round) {
    std::string text = seeds[below(std::size(seeds))];
    for (size_t change = 0; change <= below(3); ++change)
      text[below(text.size())] = "0123456789\"[]{},: -.e\n"[below(22)];
    EXPECT_EQ(gc3::test::checkResults(text, accepted), "") << text;
  }
  EXPECT_GT(accepted, 500u);
}
