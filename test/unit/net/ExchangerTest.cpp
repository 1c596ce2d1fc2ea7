// SPDX-License-Identifier: Apache-2.0
// Exchanges between threads over the loopback interface.
#include "Ranks.h"

#include <cmath>
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

/// The ranks are so slow that the sample of each call is rank 0's time.
void expectSamples(const Exchange &result, uint64_t exchange) {
  EXPECT_EQ(result.call, 16 * exchange);
  EXPECT_EQ(result.count, exchange == 0 ? 0U : 16U);
  EXPECT_EQ(result.lag, 3U);
  EXPECT_EQ(result.error, "");
  for (uint32_t i = 0; i < result.count; ++i)
    EXPECT_EQ(result.samples[i], timeOf(0, result.call - result.count + i));
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

} // namespace
