// SPDX-License-Identifier: Apache-2.0
// The results that rank 0 computes from messages in any order.
#include "net/Hub.h"
#include "Ranks.h"

using namespace gc3;
using namespace gc3::net;

namespace {

/// Returns the number of the exchange whose result is next; -1: there is none.
int64_t nextResult(Hub &hub) {
  const std::optional<Frame> frame = hub.next();
  return frame && std::holds_alternative<select::Exchange>(frame->content) ? static_cast<int64_t>(frame->exchange) : -1;
}

std::string nextFailure(Hub &hub) {
  const std::optional<Frame> frame = hub.next();
  return frame && std::holds_alternative<Failure>(frame->content) ? std::get<Failure>(frame->content).text : "";
}

TEST(Hub, ExchangesEndInOrder) {
  Hub hub(3);
  EXPECT_EQ(nextResult(hub), -1);
  for (uint64_t exchange : {0, 1, 2})
    EXPECT_TRUE(hub.add(2, exchange, makeMessage(exchange)));
  for (uint64_t exchange : {0, 1})
    EXPECT_TRUE(hub.add(0, exchange, makeMessage(exchange)));
  EXPECT_EQ(nextResult(hub), -1);
  EXPECT_TRUE(hub.add(1, 0, makeMessage(0)));
  EXPECT_EQ(nextResult(hub), 0);
  EXPECT_EQ(nextResult(hub), -1);
  EXPECT_TRUE(hub.add(1, 1, makeMessage(1)));
  EXPECT_TRUE(hub.add(1, 2, makeMessage(2)));
  EXPECT_EQ(nextResult(hub), 1);
  EXPECT_EQ(nextResult(hub), -1);
}

TEST(Hub, ResultsNameRanksThatDiffer) {
  Hub hub(3);
  for (uint32_t rank : {0, 1, 2}) {
    select::Message message = makeMessage(0);
    message.state += rank == 1;
    hub.add(rank, 0, message);
  }
  const std::optional<Frame> frame = hub.next();
  ASSERT_TRUE(frame);
  EXPECT_EQ(std::get<select::Exchange>(frame->content).error,
            "online selection, call 0: the selectors of rank 1 differ from those of the other 2; check that all ranks "
            "have the same settings and files, and their memory");
}

TEST(Hub, MessagesOutOfOrderAreRefused) {
  Hub hub(2);
  EXPECT_FALSE(hub.add(1, 1, makeMessage(1)));
  EXPECT_TRUE(hub.add(1, 0, makeMessage(0)));
  EXPECT_FALSE(hub.add(1, 0, makeMessage(0)));
  for (uint64_t exchange = 1; exchange <= Hub::mostAhead; ++exchange)
    ASSERT_TRUE(hub.add(1, exchange, makeMessage(exchange)));
  EXPECT_FALSE(hub.add(1, Hub::mostAhead + 1, makeMessage(0)));
  EXPECT_TRUE(hub.add(0, 0, makeMessage(0)));
  EXPECT_EQ(nextResult(hub), 0);
  EXPECT_TRUE(hub.add(1, Hub::mostAhead + 1, makeMessage(0)));
}

TEST(Hub, ALostRankIsAFailureOnlyOfExchangesThatWaitForIt) {
  Hub hub(3);
  for (uint64_t exchange : {0, 1})
    hub.add(1, exchange, makeMessage(exchange));
  hub.lose(1, "ended its connection");
  hub.add(0, 0, makeMessage(0));
  EXPECT_EQ(nextResult(hub), -1); // rank 2 can still send its message
  hub.add(2, 0, makeMessage(0));
  EXPECT_EQ(nextResult(hub), 0);
  hub.add(2, 1, makeMessage(1));
  hub.add(2, 2, makeMessage(2));
  EXPECT_EQ(nextFailure(hub), "");
  hub.add(0, 1, makeMessage(1));
  EXPECT_EQ(nextResult(hub), 1);
  EXPECT_EQ(nextFailure(hub), "online selection: rank 1 ended its connection before exchange 2");
  EXPECT_EQ(nextFailure(hub), ""); // once
}

} // namespace
