// SPDX-License-Identifier: Apache-2.0
// Tests the times that a bundle stores: the checks of the reader, and the time of a call between and beyond the points.
#include "Programs.h"
#include "ReadAll.h"

#include "bundle/Times.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace gc3::bundle;
using namespace gc3::test;

namespace {

using Points = std::vector<fbs::TimePoint>;

std::string withTimes(const Points &times) {
  ProgramSpec spec = ringAllReduce(3, false);
  spec.times = times;
  return buildBundle({spec});
}

std::string withBaselines(const std::vector<BaselineSpec> &baselines) {
  return buildBundle({ringAllReduce(3, false)}, {}, baselines);
}

void expectInvalid(const std::string &bytes, const std::string &message) {
  const BundleStatus status = readAll(bytes);
  EXPECT_EQ(status.error, BundleError::Invalid) << message;
  EXPECT_EQ(status.message, "invalid bundle: " + message);
}

} // namespace

TEST(Times, ofProgramsAreChecked) {
  const auto refused = [](const Points &times, const std::string &problem) {
    expectInvalid(withTimes(times), "program 'ring3_1': " + problem);
  };
  EXPECT_EQ(readAll(withTimes({{1, 0.5}, {2, 0.25}, {UINT64_MAX, 1e300}})).message, "");
  refused({{0, 1}}, "time 0 is for 0 bytes");
  refused({{8, 1}, {8, 2}}, "time 1 is for 8 bytes, time 0 for 8");
  refused({{8, 1}, {16, 2}, {4, 3}}, "time 2 is for 4 bytes, time 1 for 16");
  for (const double wrong : {0.0, -1.0, HUGE_VAL, std::numeric_limits<double>::quiet_NaN()})
    refused({{8, 1}, {16, wrong}}, "time 1 is not finite and above 0");
}

TEST(Times, ofNcclAreChecked) {
  const auto refused = [](const std::vector<BaselineSpec> &baselines, const std::string &problem) {
    expectInvalid(withBaselines(baselines), problem);
  };
  const Points times = {{8, 1}};
  EXPECT_EQ(
      readAll(withBaselines({{"allreduce", 3, times}, {"allreduce", 4, times}, {"shift(n = 3)", 3, times}})).message,
      "");
  for (const char *form : {"", "9", "all reduce", "shift(3)", "shift(n=3)", "shift(n = 3"})
    refused({{form, 3, times}}, "baseline 0: its collective is malformed");
  refused({{"allreduce", 0, times}}, "baseline 0: 0 ranks");
  refused({{"allreduce", 3, {}}}, "baseline 0: no times");
  refused({{"allreduce", 3, times}, {"allgather", 3, {{8, -1}}}}, "baseline 1: time 0 is not finite and above 0");
  refused({{"allreduce", 3, times}, {"allgather", 3, times}, {"allreduce", 3, times}},
          "baseline 2: an earlier one is for the same collective and ranks");
}

TEST(Times, changeNoDigestOfAProgram) {
  const auto without = openBytes(withTimes({}));
  const auto with = openBytes(withTimes({{8, 1}}));
  ASSERT_TRUE(without.ok() && with.ok());
  EXPECT_EQ((*without)->program(0).digest(), (*with)->program(0).digest());
  EXPECT_NE((*without)->digest(), (*with)->digest());
}

TEST(Times, areReadFromABundle) {
  const auto file = openBytes(buildBundle({ringAllReduce(3, false)}, {}, {{"allreduce", 3, {{8, 1}}}}));
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(std::isnan(predictedMicroseconds((*file)->program(0), 8)));
  const fbs::Manifest &manifest = (*file)->manifest();
  EXPECT_EQ(microsecondsAt(baselineTimes(manifest, "allreduce", 3), 8), 1);
  EXPECT_TRUE(baselineTimes(manifest, "allreduce", 4).empty());
  EXPECT_TRUE(baselineTimes(manifest, "allgather", 3).empty());
  const auto other = openBytes(withTimes({{8, 2.5}}));
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(predictedMicroseconds((*other)->program(0), 8), 2.5);
  EXPECT_TRUE(baselineTimes((*other)->manifest(), "allreduce", 3).empty());
}

TEST(Times, betweenPointsAreOnALineOfLogarithms) {
  const Points times = {{1024, 10}, {4096, 40}, {65536, 40}, {1 << 20, 640}};
  EXPECT_EQ(microsecondsAt(times, 1024), 10);
  EXPECT_NEAR(microsecondsAt(times, 2048), 20, 1e-6);
  EXPECT_EQ(microsecondsAt(times, 4096), 40);
  EXPECT_NEAR(microsecondsAt(times, 5000), 40, 1e-6);
  EXPECT_NEAR(microsecondsAt(times, 1 << 18), 160, 1e-5);
  EXPECT_NEAR(microsecondsAt(Points{{1024, 40}, {4096, 10}}, 2048), 20, 1e-6);
  EXPECT_EQ(microsecondsAt(times, 1 << 20), 640);
  const Points close = {{UINT64_MAX - 2, 1}, {UINT64_MAX, 4}};
  EXPECT_NEAR(microsecondsAt(close, UINT64_MAX - 1), 2, 1e-7);
}

TEST(Times, beyondThePointsAreLatencyAndBandwidth) {
  const Points times = {{1024, 10}, {4096, 20}};
  EXPECT_EQ(microsecondsAt(times, 0), 10);
  EXPECT_EQ(microsecondsAt(times, 1023), 10);
  EXPECT_DOUBLE_EQ(microsecondsAt(times, 12288), 60);
  EXPECT_DOUBLE_EQ(microsecondsAt(Points{{1, 3}}, 1000), 3000);
  EXPECT_TRUE(std::isnan(microsecondsAt({}, 1024)));
}
