// SPDX-License-Identifier: Apache-2.0
// The calls at which exchanges begin and are applied, and how the delay adapts.
#include "select/Schedule.h"
#include "CountAllocations.h"
#include "select/Digest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using namespace gc3::select;

namespace {

Exchange resultOf(const Message &message, uint32_t lag = 0, std::string error = "") {
  Exchange result{message.call, lag, message.count, {}, {}, std::move(error)};
  for (uint32_t i = 0; i < message.count; ++i)
    result.samples[i] = static_cast<float>(message.call - message.count + i); // the number of the call
  return result;
}

/// The numbers of the calls of an applied exchange, and of the call before whose choice it was applied.
struct Applied {
  uint64_t at = 0;
  std::vector<uint32_t> calls;
  bool operator==(const Applied &) const = default;
};

/// Makes calls. Exchanges end `lag` calls after they begin.
struct Log {
  explicit Log(const Terms &terms) : schedule(terms) {}

  void makeCall(uint64_t lag, uint32_t reportedLag) {
    while (!sent.empty() && sent.front().call + lag <= schedule.nextCall()) {
      schedule.end(resultOf(sent.front(), reportedLag));
      sent.erase(sent.begin());
    }
    while (schedule.isDue()) {
      ASSERT_TRUE(schedule.hasEnded());
      applied.push_back({schedule.nextCall(), {}});
      schedule.apply([&](const Call &call, float sample, uint8_t) {
        EXPECT_EQ(static_cast<float>(call.bucket), sample);
        applied.back().calls.push_back(call.bucket);
      });
    }
    if (schedule.record({0, static_cast<uint32_t>(schedule.nextCall()), 0})) {
      sent.push_back(schedule.begin(1));
      begun.push_back(sent.back());
    }
  }

  Schedule schedule;
  std::vector<Message> sent, begun; ///< sent: those that have not ended
  std::vector<Applied> applied;
};

TEST(Schedule, ExchangesCoverThePeriodBeforeTheirCall) {
  Log log({4, 6, 100});
  for (int i = 0; i < 18; ++i)
    log.makeCall(1, 1);
  const std::vector<Applied> wanted{{6, {}}, {10, {0, 1, 2, 3}}, {14, {4, 5, 6, 7}}};
  EXPECT_EQ(log.applied, wanted);
  ASSERT_EQ(log.begun.size(), 5U); // at calls 0, 4, 8, 12, 16
  for (uint64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(log.begun[i].call, 4 * i);
    EXPECT_EQ(log.begun[i].count, i == 0 ? 0U : 4U);
    EXPECT_EQ(log.begun[i].state, mix(mix(1, 6), 4 * i + 6)); // the delay, and the call that applies the exchange
  }
  EXPECT_NE(log.begun[1].choices, log.begun[2].choices);
}

TEST(Schedule, ACallWaitsForTheExchangeThatIsDue) {
  Schedule schedule({4, 6, 100});
  Message message;
  for (uint32_t i = 0; i < 6; ++i) {
    EXPECT_FALSE(schedule.isDue());
    if (schedule.record({}) && i == 0)
      message = schedule.begin(0);
    else if (i == 4)
      schedule.begin(0);
  }
  EXPECT_TRUE(schedule.isDue());
  EXPECT_FALSE(schedule.hasEnded());
  schedule.end(resultOf(message));
  EXPECT_TRUE(schedule.hasEnded());
  schedule.apply([](const Call &, float, uint8_t) {});
  EXPECT_FALSE(schedule.isDue());
}

TEST(Schedule, ALateExchangeChangesNothingBeforeItIsDue) {
  Log soon({4, 16, 100}), late({4, 16, 100});
  for (int i = 0; i < 100; ++i) {
    soon.makeCall(1, 3);
    late.makeCall(16, 3);
  }
  EXPECT_EQ(soon.applied, late.applied);
  for (size_t i = 0; i < soon.begun.size(); ++i)
    EXPECT_EQ(soon.begun[i].choices, late.begun[i].choices);
}

TEST(Schedule, TheDelayIsTwiceTheLargestLag) {
  Log log({4, 16, 400});
  while (log.schedule.nextCall() <= 16)
    log.makeCall(2, 30);
  EXPECT_EQ(log.schedule.delay(), 60U); // since the exchange of call 0 was applied
  while (log.schedule.nextCall() <= 16 + 60)
    log.makeCall(2, 1000);
  EXPECT_EQ(log.schedule.delay(), 400U); // not more than the limit
}

TEST(Schedule, TheDelayShrinksSlowlyAndExchangesStayInOrder) {
  Log log({4, 16, 400});
  while (log.schedule.delay() != 160)
    log.makeCall(2, 80);
  uint32_t before = 160;
  while (log.schedule.delay() != 16) {
    log.makeCall(2, 1);
    const uint32_t delay = log.schedule.delay();
    EXPECT_TRUE(delay == before || delay >= before - 2 * (before / 8)) << delay << " after " << before;
    before = delay;
  }
  for (size_t i = 1; i < log.applied.size(); ++i) {
    EXPECT_GE(log.applied[i].at, log.applied[i - 1].at);
    EXPECT_EQ(log.applied[i].calls.front(), 4 * (i - 1));
  }
}

TEST(Schedule, MessagesHaveTheLagOfThisRank) {
  Log log({4, 16, 400});
  for (int i = 0; i < 9; ++i)
    log.makeCall(3, 0);
  EXPECT_EQ(log.begun[0].lag, 0U);
  EXPECT_EQ(log.begun[1].lag, 3U); // of the exchange of call 0
  EXPECT_EQ(log.begun[2].lag, 3U);

  Log slow({4, 16, 400});
  for (int i = 0; i < 17; ++i)
    slow.makeCall(14, 0);
  EXPECT_EQ(slow.begun[1].lag, 4U); // so far
  EXPECT_EQ(slow.begun[3].lag, 12U);
  EXPECT_EQ(slow.begun[4].lag, 14U); // the exchange of call 0 has ended
}

TEST(Schedule, CallsHaveTheirFlags) {
  Schedule schedule({2, 3, 3});
  for (uint32_t i = 0; i < 5; ++i) {
    if (schedule.isDue())
      schedule.apply([](const Call &, float, uint8_t) {});
    if (schedule.record({0, i, 0, i != 1})) {
      Exchange result = resultOf(schedule.begin(0));
      result.flags = {3, 4};
      schedule.end(result);
    }
  }
  std::vector<uint32_t> values;
  schedule.apply([&](const Call &call, float, uint8_t flags) {
    values.insert(values.end(), {call.bucket, uint32_t(call.isTimed), flags});
  });
  EXPECT_EQ(values, (std::vector<uint32_t>{0, 1, 3, 1, 0, 4}));
}

/// Ranks have enqueued different numbers of calls when a call stalls.
TEST(Schedule, LookingBackShowsTheFirstCallThatDiffers) {
  Schedule first(streamTerms), second(streamTerms);
  for (uint32_t i = 0; i < 60; ++i) {
    if (first.record({0, 0, i == 30 ? 2U : 0U}))
      first.begin(0);
    if (i < 40 && second.record({0, 0, 0}))
      second.begin(0);
  }
  for (uint64_t count = 0; count <= 40; ++count)
    EXPECT_EQ(first.lookBack(count) == second.lookBack(count), count <= 30) << count;
  EXPECT_TRUE(first.lookBack(60));
  EXPECT_FALSE(second.lookBack(41));
}

/// A rank is at most `mostDelay` calls ahead of the first exchange that has not ended. Its log goes back to the
/// exchange before that.
TEST(Schedule, LookingBackReachesTheLastExchangeThatHasEnded) {
  Log log({4, 8, 8});
  while (log.schedule.nextCall() < 100)
    log.makeCall(8, 8);
  const uint64_t ended = log.sent.front().call - 4;
  EXPECT_LE(ended + 8, 100U);
  for (uint64_t count = ended + 1; count <= 100; ++count)
    EXPECT_TRUE(log.schedule.lookBack(count)) << count;
  EXPECT_EQ(*log.schedule.lookBack(ended + 1), log.begun[ended / 4].choices);
  EXPECT_FALSE(log.schedule.lookBack(88));
}

TEST(Schedule, AnErrorBelongsToItsExchange) {
  Schedule schedule({1, 2, 2});
  ASSERT_TRUE(schedule.record({}));
  const Message first = schedule.begin(0);
  ASSERT_TRUE(schedule.record({}));
  const Message second = schedule.begin(0);
  schedule.end(resultOf(first));
  schedule.end(resultOf(second, 0, "rank 1 differs"));
  EXPECT_EQ(schedule.error(), ""); // call 2 is as on the other ranks
  schedule.apply([](const Call &, float, uint8_t) {});
  EXPECT_EQ(schedule.error(), "rank 1 differs");
  EXPECT_FALSE(schedule.isDue()); // it is due for call 3
}

TEST(Schedule, AnnouncementsAreExchangesOfOneCall) {
  Log log(announcedTerms);
  for (int i = 0; i < 4; ++i)
    log.makeCall(1, 0); // an announced call has ended before the next call begins
  const std::vector<Applied> wanted{{1, {}}, {2, {0}}, {3, {1}}};
  EXPECT_EQ(log.applied, wanted);
  EXPECT_EQ(log.schedule.delay(), 1U);
}

TEST(Schedule, TheLargestDelayFits) {
  Log log(streamTerms);
  while (log.schedule.nextCall() < 20000)
    log.makeCall(log.schedule.nextCall() < 5000 ? 1 : 4096, 4096);
  EXPECT_EQ(log.schedule.delay(), streamTerms.mostDelay);
  EXPECT_EQ(log.applied.back().calls.size(), 16U);
}

TEST(Schedule, AllocatesNothingAfterItsConstruction) {
  Schedule schedule(streamTerms);
  Message message;
  const Message *messages[] = {&message, &message};
  float sum = 0;
  const uint64_t before = countAllocations();
  for (uint32_t i = 0; i < 10000; ++i) {
    while (schedule.isDue())
      schedule.apply([&](const Call &, float sample, uint8_t) { sum += sample; });
    if (schedule.record({0, 0, i % 3})) {
      message = schedule.begin(1);
      message.times.fill(2);
      schedule.end(evaluate(messages));
    }
  }
  EXPECT_EQ(countAllocations(), before);
  EXPECT_EQ(sum, 2 * 9920); // calls 0 to 9919; the exchange of call 9920 is the last one that is applied
}

} // namespace
