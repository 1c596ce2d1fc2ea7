// SPDX-License-Identifier: Apache-2.0
// The choice of an arm: which rows count, and how NCCL's costs change.
#include "tuner/Choices.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace gc3::tuner;

namespace {

constexpr int allReduce = static_cast<int>(Collective::AllReduce);

Choices choicesOf(const std::string &rows, uint32_t ranks = 8, uint32_t nodes = 1) {
  std::vector<Row> all;
  EXPECT_EQ(parseTable("gc3-nccl-table 1\n" + rows, all), "");
  return Choices(all, ranks, nodes);
}

/// Returns the arms of an allreduce as text, such as "ring ll 4, tree simple 0".
std::string armsOf(const Choices &choices, uint64_t bytes, int collective = allReduce) {
  std::string text;
  for (const Arm &arm : choices.arms(collective, bytes))
    text += (text.empty() ? "" : ", ") + std::string(algorithmNames[static_cast<size_t>(arm.algorithm)]) + " " +
            std::string(protocolNames[static_cast<size_t>(arm.protocol)]) + " " + std::to_string(arm.channels);
  return text;
}

/// Costs of trees and rings; NCCL can't use other algorithms.
struct Costs {
  float costs[7][3];
  explicit Costs(std::array<float, 6> values) {
    std::fill_n(&costs[0][0], 21, -1.f);
    std::copy(values.begin(), values.end(), &costs[0][0]);
  }
  CostTable table() { return {&costs[0][0], 7, 3}; }
  std::vector<float> usable() const { return {&costs[0][0], &costs[0][0] + 6}; }
};

} // namespace

TEST(Choices, AreByShapeCollectiveAndBucket) {
  const std::string rows = "allreduce 8 1 10 ring ll 4 5\nallreduce 16 2 10 tree ll - 5\n"
                           "allreduce 8 2 10 tree ll128 - 5\nallgather 8 1 11 ring simple - 5\n";
  const Choices choices = choicesOf(rows);
  EXPECT_EQ(choices.count(), 2u);
  EXPECT_EQ(armsOf(choices, 1023), "");
  EXPECT_EQ(armsOf(choices, 1024), "ring ll 4");
  EXPECT_EQ(armsOf(choices, 2047), "ring ll 4");
  EXPECT_EQ(armsOf(choices, 2048), "");
  EXPECT_EQ(armsOf(choices, 2048, static_cast<int>(Collective::AllGather)), "ring simple 0");
  EXPECT_EQ(armsOf(choicesOf(rows, 16, 2), 1024), "tree ll 0");
  EXPECT_EQ(armsOf(choicesOf(rows, 8, 2), 1024), "tree ll128 0");
  EXPECT_EQ(choicesOf(rows, 4, 1).count(), 0u);
  for (const int collective : {-1, 5, 8, INT32_MAX})
    EXPECT_EQ(armsOf(choices, 1024, collective), "");
  EXPECT_EQ(armsOf(Choices(), 1024), "");
}

TEST(Choices, ComeInTheOrderOfTimes) {
  EXPECT_EQ(armsOf(choicesOf("allreduce 8 1 10 ring ll - 5\nallreduce 8 1 10 ring ll 4 3\n"
                             "allreduce 8 1 10 tree ll - ?\nallreduce 8 1 10 pat simple - ?\n"
                             "allreduce 8 1 10 ring simple - 3\n"),
                   1024),
            "tree ll 0, pat simple 0, ring ll 4, ring simple 0, ring ll 0");
}

TEST(Choices, LaterRowsReplaceEarlierOnes) {
  const Choices choices = choicesOf("allreduce 8 1 10 ring ll - ?\nallreduce 8 1 10 tree ll - 4\n"
                                    "allreduce 8 1 10 ring ll - 5\nallreduce 8 1 63 ring ll - 1\n");
  EXPECT_EQ(choices.count(), 3u);
  EXPECT_EQ(armsOf(choices, 1024), "tree ll 0, ring ll 0");
  EXPECT_EQ(armsOf(choices, UINT64_MAX), "ring ll 0");
}

TEST(Prefer, GivesTheArmTheLowestCost) {
  const Choices choices = choicesOf("allreduce 8 1 10 ring ll128 4 1\nallreduce 8 1 10 tree ll - 2\n");
  Costs costs({3, 4, 5, 6, 7, 8});
  const Arm *arm = prefer(choices.arms(allReduce, 1024), costs.table());
  ASSERT_NE(arm, nullptr);
  EXPECT_EQ(arm->channels, 4);
  EXPECT_EQ(costs.usable(), (std::vector<float>{std::nextafter(3.f, 4.f), 4, 5, 6, 3, 8}));
}

TEST(Prefer, KeepsTheCostsIfNcclAgrees) {
  Costs costs({3, 4, 5, 6, 7, 8});
  EXPECT_NE(prefer(choicesOf("allreduce 8 1 10 tree ll - 2\n").arms(allReduce, 1024), costs.table()), nullptr);
  EXPECT_EQ(costs.usable(), (std::vector<float>{3, 4, 5, 6, 7, 8}));
}

TEST(Prefer, RaisesEqualCosts) {
  Costs costs({0, 0, -1, 0, 7, 8});
  EXPECT_NE(prefer(choicesOf("allreduce 8 1 10 ring ll - 2\n").arms(allReduce, 1024), costs.table()), nullptr);
  const float above = std::nextafter(0.f, 1.f);
  EXPECT_EQ(costs.usable(), (std::vector<float>{above, above, -1, 0, 7, 8}));
}

TEST(Prefer, SkipsArmsThatNcclCantUse) {
  const Choices choices = choicesOf("allreduce 8 1 10 nvls simple - 1\nallreduce 8 1 10 ring ll - 2\n"
                                    "allreduce 8 1 10 ring simple - 3\n");
  Costs costs({3, 4, 5, -1, 7, 8});
  const Arm *arm = prefer(choices.arms(allReduce, 1024), costs.table());
  ASSERT_NE(arm, nullptr);
  EXPECT_EQ(arm->protocol, Protocol::Simple);
  Costs none({3, 4, 5, -1, 7, -1});
  EXPECT_EQ(prefer(choices.arms(allReduce, 1024), none.table()), nullptr);
  EXPECT_EQ(none.usable(), (std::vector<float>{3, 4, 5, -1, 7, -1}));
}

/// For sums of 8-bit floats over many ranks, NCCL multiplies the costs of rings by 1024.
TEST(Prefer, SkipsArmsThatNcclAvoids) {
  const Choices choices = choicesOf("allreduce 8 1 10 ring ll - 1\n");
  Costs costs({3, 4, 5, 3 * 1024, 7, 8});
  EXPECT_EQ(prefer(choices.arms(allReduce, 1024), costs.table()), nullptr);
  Costs within({3, 4, 5, 3 * 128, 7, 8});
  EXPECT_NE(prefer(choices.arms(allReduce, 1024), within.table()), nullptr);
}

TEST(Prefer, SkipsArmsOutsideTheTable) {
  const Choices choices = choicesOf("allreduce 8 1 10 ring simple - 1\nallreduce 8 1 10 pat ll - 1\n");
  float costs[2] = {5, 6}; // trees and rings under LL only
  EXPECT_EQ(prefer(choices.arms(allReduce, 1024), {costs, 2, 1}), nullptr);
  EXPECT_EQ(prefer(choices.arms(allReduce, 1024), {nullptr, 0, 0}), nullptr);
}
