// SPDX-License-Identifier: Apache-2.0
// Exchanges between threads over the loopback interface.
#include "Ranks.h"

#include <atomic>
#include <cmath>
#include <csignal>
#include <random>

using namespace gc3;
using namespace gc3::net;
using select::Exchange;
using select::Message;

namespace {

Exchange takeNext(Exchanger &exchanger) {
  Exchange result;
  EXPECT_TRUE(exchanger.takeWithin(longTime, result)) << exchanger.error().text;
  return result;
}

/// Rank 0 has the shortest times, which are the samples.
void expectSamples(const Exchange &result, uint64_t exchange) {
  EXPECT_EQ(result.call, 16 * exchange);
  EXPECT_EQ(result.count, exchange == 0 ? 0U : 16U);
  EXPECT_EQ(result.lag, 3U);
  EXPECT_EQ(result.error, "");
  for (uint32_t i = 0; i < result.count; ++i)
    EXPECT_EQ(result.samples[i], timeOf(0, result.call - result.count + i));
}

/// Waits for the error, because no more results come.
std::string waitForError(Exchanger &exchanger) {
  Exchange result;
  EXPECT_FALSE(exchanger.takeWithin(longTime, result));
  EXPECT_EQ(exchanger.error().code, gc3SystemError);
  return exchanger.error().text;
}

TEST(Exchanger, AllRanksHaveTheSamplesOfAllExchanges) {
  for (uint32_t count : {1, 2, 3, 8}) {
    Ranks ranks(count);
    ranks.start();
    for (uint64_t exchange = 0; exchange < 100; ++exchange)
      for (uint32_t rank = 0; rank < count; ++rank)
        ranks[rank].begin(makeMessage(exchange));
    for (uint64_t exchange = 0; exchange < 100; ++exchange)
      for (uint32_t rank = 0; rank < count; ++rank)
        expectSamples(takeNext(ranks[rank]), exchange);
    for (uint32_t rank = 0; rank < count; ++rank)
      EXPECT_TRUE(ranks[rank].error().ok());
  }
}

TEST(Exchanger, MessagesWaitForTheirTimes) {
  Ranks ranks(3);
  ranks.start([](uint32_t rank) {
    return [rank, random = std::mt19937(rank)](Message &message) mutable {
      return random() % 2 == 0 && readAll(rank, message);
    };
  });
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < ranks.size(); ++rank)
    threads.emplace_back([&, rank] {
      uint64_t begun = 0;
      for (uint64_t exchange = 0; exchange < 300; ++exchange) {
        for (; begun <= exchange + rank * 5; ++begun) // ranks are at different calls
          ranks[rank].begin(makeMessage(begun));
        expectSamples(takeNext(ranks[rank]), exchange);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Exchanger, AHurryEndsTheWaitForTimes) {
  std::atomic<int> polls = 0;
  Ranks ranks(2);
  ranks.start([&](uint32_t rank) {
    return [&polls, rank](Message &message) {
      readAll(rank, message);
      if (rank == 0)
        return true;
      message.times[5] = select::noTime;
      ++polls;
      return false;
    };
  });
  for (uint64_t exchange : {0, 1, 2, 3})
    for (uint32_t rank : {0, 1})
      ranks[rank].begin(makeMessage(exchange));
  while (polls < 3)
    std::this_thread::yield();
  Exchange result;
  EXPECT_FALSE(ranks[0].take(result) || ranks[1].take(result));
  ranks[1].hurry(2);
  for (uint64_t exchange : {0, 1, 2})
    for (uint32_t rank : {0, 1}) {
      result = takeNext(ranks[rank]);
      EXPECT_EQ(result.call, 16 * exchange);
      EXPECT_EQ(std::isnan(result.samples[5]), exchange != 0);
      EXPECT_EQ(result.samples[6], exchange == 0 ? 0 : timeOf(0, result.call - 10));
    }
  const int before = polls;
  while (polls < before + 3) // the last message still waits
    std::this_thread::yield();
  EXPECT_FALSE(ranks[0].take(result) || ranks[1].take(result));
}

TEST(Exchanger, ThreadsBlockSignals) {
  std::atomic<bool> isBlocked = false;
  Ranks ranks(1);
  ranks.start([&](uint32_t) {
    return [&](Message &) {
      sigset_t mask;
      pthread_sigmask(SIG_SETMASK, nullptr, &mask);
      isBlocked = sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGPROF) == 1;
      return true;
    };
  });
  ranks[0].begin(makeMessage(0));
  takeNext(ranks[0]);
  EXPECT_TRUE(isBlocked);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGTERM), 0); // of this thread
}

TEST(Exchanger, ARankThatLeavesIsAnErrorOfLaterExchanges) {
  Ranks ranks(3);
  ranks.start();
  for (uint32_t rank : {0, 1, 2})
    ranks[rank].begin(makeMessage(0));
  expectSamples(takeNext(ranks[2]), 0);
  ranks.remove(2);
  for (uint32_t rank : {0, 1})
    ranks[rank].begin(makeMessage(1));
  for (uint32_t rank : {0, 1}) {
    expectSamples(takeNext(ranks[rank]), 0);
    EXPECT_EQ(waitForError(ranks[rank]), "online selection: rank 2 ended its connection before exchange 1");
  }
}

TEST(Exchanger, ResultsArriveAlthoughRank0Leaves) {
  Ranks ranks(4);
  ranks.start();
  for (uint64_t exchange = 0; exchange < 200; ++exchange)
    for (uint32_t rank = 0; rank < 4; ++rank)
      ranks[rank].begin(makeMessage(exchange));
  for (uint64_t exchange = 0; exchange < 200; ++exchange)
    expectSamples(takeNext(ranks[0]), exchange);
  for (uint32_t rank : {1, 2, 3}) // unread data of rank 0's connections must not destroy the results
    ranks[rank].begin(makeMessage(200));
  ranks.remove(0);
  for (uint32_t rank : {1, 2, 3}) {
    for (uint64_t exchange = 0; exchange < 200; ++exchange)
      expectSamples(takeNext(ranks[rank]), exchange);
    EXPECT_EQ(waitForError(ranks[rank]), "online selection: rank 0 ended its connection");
  }
}

TEST(Exchanger, RanksStopAtAnyTime) {
  std::mt19937 random(5);
  for (int round = 0; round < 40; ++round) {
    Ranks ranks(3);
    ranks.start([seed = round](uint32_t rank) {
      return [rank, random = std::mt19937(static_cast<uint32_t>(seed))](Message &message) mutable {
        return random() % 4 != 0 && readAll(rank, message);
      };
    });
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < 3; ++rank)
      threads.emplace_back([&, rank, last = random() % 20] {
        Exchange result;
        uint64_t taken = 0;
        for (uint64_t exchange = 0; exchange < last; ++exchange) {
          ranks[rank].begin(makeMessage(exchange));
          for (; ranks[rank].take(result); ++taken)
            expectSamples(result, taken);
        }
        ranks[rank].stop();
        ranks[rank].begin(makeMessage(last)); // has no effect
        for (; ranks[rank].take(result); ++taken)
          expectSamples(result, taken);
      });
    std::thread other([&] { ranks[1].stop(); }); // concurrently with the rank's own
    other.join();
    for (std::thread &thread : threads)
      thread.join();
  }
}

/// Returns what a rank's comparison has found.
std::string awaitComparison(const Exchanger &exchanger) {
  std::optional<std::string> found;
  while (!(found = exchanger.comparison()))
    std::this_thread::yield();
  return *found;
}

/// Rank 1 chooses otherwise from call 22 on. One rank asks, but all ranks learn it.
TEST(Exchanger, AComparisonNamesTheRankThatDiffers) {
  for (uint32_t asking : {0, 1, 2}) {
    Ranks ranks(3);
    ranks.start([](uint32_t rank) { return [rank](Message &message) { return readAll(rank, message); }; },
                [](uint32_t rank, uint64_t asked) {
                  return Answer{asked, 30 + rank, rank == 1 && asked > 22 ? 7 : asked};
                });
    for (uint64_t exchange : {0, 1})
      for (uint32_t rank : {0, 1, 2})
        ranks[rank].begin(makeMessage(exchange));
    for (uint64_t exchange : {0, 1})
      expectSamples(takeNext(ranks[0]), exchange);
    EXPECT_FALSE(ranks[asking].comparison());
    ranks[asking].beginComparison();
    for (uint32_t rank : {0, 1, 2})
      EXPECT_EQ(awaitComparison(ranks[rank]),
                "online selection, call 22: the calls or choices of rank 1 differ from those of the other 2; check "
                "that all ranks make the same calls, and their memory");
    ranks[asking].beginComparison(); // no effect
    EXPECT_TRUE(ranks[asking].comparison());
  }
}

/// Without the answers of all ranks, no difference is known.
TEST(Exchanger, ARankThatLeavesEndsAComparison) {
  for (uint32_t leaving : {0, 2}) {
    Ranks ranks(3);
    ranks.start([](uint32_t) { return [](Message &) { return true; }; },
                [](uint32_t rank, uint64_t asked) {
                  return Answer{asked, 5, asked * rank};
                });
    ranks.remove(leaving);
    ranks[1].beginComparison();
    EXPECT_EQ(awaitComparison(ranks[1]), "");
  }
}

TEST(Exchanger, AnExchangerCanEndBeforeItStarts) {
  Exchanger unused({0, 2, 1});
  unused.stop();
  EXPECT_TRUE(unused.error().ok());
  Ranks ranks(2); // rank 0 listens
  ranks[0].stop();
}

} // namespace
