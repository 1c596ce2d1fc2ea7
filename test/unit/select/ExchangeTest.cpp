// SPDX-License-Identifier: Apache-2.0
// The samples of an exchange, and the errors that name the ranks that differ.
#include "select/Exchange.h"
#include "select/Digest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace gc3::select;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Messages that agree, by rank.
std::vector<Message> makeMessages(size_t ranks) {
  return std::vector<Message>(ranks, Message{112, 7, 9, 3, 2, {5, 6}, {}});
}

Exchange evaluateAll(const std::vector<Message> &messages) {
  std::vector<const Message *> pointers;
  for (const Message &message : messages)
    pointers.push_back(&message);
  return evaluate(pointers);
}

std::string errorOf(size_t ranks, std::initializer_list<size_t> changed, uint64_t Message::*field) {
  std::vector<Message> messages = makeMessages(ranks);
  for (size_t rank : changed)
    messages[rank].*field ^= 1;
  return evaluateAll(messages).error;
}

TEST(Exchange, SamplesAreTheShortestTimesOrByFlagTheLongest) {
  std::vector<Message> messages = makeMessages(3);
  messages[1].times = {8, 8};
  messages[2].times = {4, 4};
  messages[2].lag = 40;
  for (Message &message : messages)
    message.flags[1] = longestFlag;
  const Exchange exchange = evaluateAll(messages);
  EXPECT_EQ(exchange.samples, (std::array<float, Message::mostTimes>{4, 8})); // the range has two calls
  EXPECT_EQ(exchange.call, 112U);
  EXPECT_EQ(exchange.count, 2U);
  EXPECT_EQ(exchange.lag, 40U);
  EXPECT_EQ(exchange.error, "");
}

TEST(Exchange, HasTheFlagsOfAllRanks) {
  std::vector<Message> messages = makeMessages(3);
  messages[0].flags = {1, 0};
  messages[2].flags = {4, 2, 8};
  const Exchange exchange = evaluateAll(messages);
  EXPECT_EQ(exchange.flags, (std::array<uint8_t, Message::mostTimes>{5, 2})); // the range has two calls
}

TEST(Exchange, ASampleIsMissingIfTheTimeOfARankIs) {
  for (float missing : {noTime, 0.0F, -1.0F, infinity, -infinity}) {
    std::vector<Message> messages = makeMessages(3);
    messages[2].times[0] = missing;
    const Exchange exchange = evaluateAll(messages);
    EXPECT_TRUE(std::isnan(exchange.samples[0])) << missing;
    EXPECT_EQ(exchange.samples[1], 6);
    EXPECT_EQ(exchange.error, "");
  }
}

TEST(Exchange, ErrorsNameTheRanksThatDiffer) {
  EXPECT_EQ(
      errorOf(4, {2}, &Message::choices),
      "online selection, call 112: the calls or choices of rank 2 differ from those of the other 3; check that all "
      "ranks make the same calls, and their memory");
  EXPECT_EQ(errorOf(5, {0, 4}, &Message::state),
            "online selection, call 112: the selectors of ranks 0, 4 differ from those of the other 3; check that all "
            "ranks have the same settings and files, and their memory");
  EXPECT_EQ(
      errorOf(3, {0}, &Message::call),
      "online selection, call 112: the exchanges of rank 0 differ from those of the other 2; report this as a bug");
}

TEST(Exchange, ErrorsNameAllRanksWithoutAMajority) {
  const std::string end = "; check that all ranks have the same settings and files, and their memory";
  EXPECT_EQ(errorOf(2, {1}, &Message::state), "online selection, call 112: the selectors of ranks 0, 1 differ" + end);
  EXPECT_EQ(errorOf(4, {1, 3}, &Message::state),
            "online selection, call 112: the selectors of ranks 0, 1, 2, 3 differ" + end);
  EXPECT_EQ(
      errorOf(20, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, &Message::state),
      "online selection, call 112: the selectors of ranks 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 and "
      "4 more differ" +
          end);
}

TEST(Exchange, AWrongCountIsAnError) {
  std::vector<Message> messages = makeMessages(3);
  messages[1].count = 400;
  EXPECT_EQ(
      evaluateAll(messages).error,
      "online selection, call 112: the exchanges of rank 1 differ from those of the other 2; report this as a bug");
  messages[0].count = 400;
  EXPECT_EQ(evaluateAll(messages).count, Message::mostTimes); // nothing is read after the times
}

TEST(Digest, DependsOnEveryValueAndOnTheOrder) {
  EXPECT_NE(mix(mix(0, 1), 2), mix(mix(0, 2), 1));
  for (uint32_t bit = 0; bit < 64; ++bit)
    EXPECT_NE(mix(mix(0, 5), 7), mix(mix(0, 5 ^ uint64_t(1) << bit), 7));
}

} // namespace
