// SPDX-License-Identifier: Apache-2.0
// Ranks join, gather, leave and fail. Each rank is a thread.
#include "Members.h"
#include "core/Proofs.h"
#include "net/Socket.h"

#include <sys/resource.h>
#include <unistd.h>

using namespace gc3;
using namespace gc3::job;

namespace {

/// The bytes of a rank for a gather: their number differs by rank and round.
std::vector<uint8_t> bytesOfRank(size_t rank, size_t round) {
  return std::vector<uint8_t>(rank * 7 + round * 1000, static_cast<uint8_t>(rank + round));
}

TEST(Assembly, AllRanksGatherTheBytesOfAllRanks) {
  constexpr size_t rounds = 3;
  for (uint32_t ranks : {1, 2, 3, 8, 64}) {
    std::vector<std::unique_ptr<Assembly>> all = joinAll(ranks);
    const auto outcomes = onEach(ranks, [&](size_t rank) {
      EXPECT_EQ(all[rank]->rank(), rank);
      EXPECT_EQ(all[rank]->ranks(), ranks);
      for (size_t round = 0; round < rounds; ++round) {
        core::Result<Assembly::Gathered> result = all[rank]->gather(bytesOfRank(rank, round), longLimits);
        if (!result.ok())
          return result.outcome().text;
        for (size_t other = 0; other < ranks; ++other)
          EXPECT_EQ((*result)[other], bytesOfRank(other, round));
      }
      return std::string();
    });
    EXPECT_EQ(outcomes, std::vector<std::string>(ranks)) << ranks;
    for (const auto &each : all)
      EXPECT_EQ(each->loss(), nullptr);
  }
}

TEST(Assembly, AllRanksKnowAllIdentities) {
  std::unique_ptr<Listener> listener = openListener();
  const net::Endpoint rank0 = listener->endpoint();
  Member other = memberOf(1, 2);
  other.identity = {7, 4711, "elsewhere"};
  std::future<Joined> leading = beginToLead(std::move(listener), memberOf(0, 2));
  const std::unique_ptr<Assembly> joined = take(beginToJoin(rank0, other)), leader = take(std::move(leading));
  for (const Assembly *each : {joined.get(), leader.get()}) {
    EXPECT_EQ(each->identities()[0], identifyThisProcess());
    EXPECT_EQ(each->identities()[1], other.identity);
  }
  EXPECT_FALSE(shareHost(leader->identities()[0], leader->identities()[1]));
}

TEST(Assembly, GatherEachReturnsValues) {
  std::vector<std::unique_ptr<Assembly>> all = joinAll(3);
  const auto values = onEach(3, [&](size_t rank) { return *all[rank]->gatherEach(10 * rank, longLimits); });
  EXPECT_EQ(values, std::vector<std::vector<size_t>>(3, {0, 10, 20}));
}

TEST(Assembly, TheLargestGather) {
  std::vector<std::unique_ptr<Assembly>> all = joinAll(3);
  const std::vector<uint8_t> most(Assembly::mostGatherBytes, 5), tooMany(Assembly::mostGatherBytes + 1);
  EXPECT_EQ(all[0]->gather(tooMany, longLimits).outcome().text,
            "a gather of 1048577 bytes of a rank exceeds the limit of 1048576");
  const auto results = onEach(3, [&](size_t rank) { return *all[rank]->gather(most, longLimits); });
  EXPECT_EQ(results, std::vector<Assembly::Gathered>(3, {most, most, most}));
}

TEST(Assembly, RanksOutOfRangeAreErrors) {
  EXPECT_EQ(Assembly::join(net::Endpoint{}, memberOf(2, 2), shortLimits).outcome().text,
            "rank 2 is out of range; there are 2 ranks");
  EXPECT_EQ(Assembly::lead(openListener(), memberOf(0, 0), shortLimits).outcome().code, gc3InvalidArgument);
}

TEST(Assembly, AMissingRankIsNamedOnAllRanks) {
  std::unique_ptr<Listener> listener = openListener();
  const net::Endpoint rank0 = listener->endpoint();
  std::future<Joined> leading = beginToLead(std::move(listener), memberOf(0, 4));
  std::future<Joined> first = beginToJoin(rank0, memberOf(1, 4)),
                      second = beginToJoin(rank0, memberOf(2, 4), shortLimits);
  const std::string text = "after 250 ms, rank 3 has not joined";
  const core::Outcome late = second.get().outcome();
  EXPECT_EQ(late.code, gc3Timeout);
  EXPECT_EQ(late.text, text);
  for (auto *each : {&leading, &first}) {
    const core::Outcome outcome = each->get().outcome();
    EXPECT_EQ(outcome.code, gc3RemoteError);
    EXPECT_EQ(outcome.text, "rank 2, which has failed: " + text);
  }
}

TEST(Assembly, Rank0NamesMissingRanks) {
  const core::Outcome outcome = Assembly::lead(openListener(), memberOf(0, 40), shortLimits).outcome();
  EXPECT_EQ(outcome.code, gc3Timeout);
  EXPECT_EQ(outcome.text, "after 250 ms, ranks 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 and 23 more have "
                          "not joined");
}

TEST(Assembly, Rank0SaysThatItCannotAcceptConnections) {
  joinAll(2); // loads the library of proofs
  const Member leader = memberOf(0, 2);
  std::unique_ptr<Listener> listener = openListener();
  asio::io_context context;
  net::Tcp::socket other(context);
  other.connect({asio::ip::address_v4::loopback(), static_cast<uint16_t>(listener->endpoint().port)});
  const int lowestFree = dup(STDERR_FILENO);
  close(lowestFree);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{static_cast<rlim_t>(lowestFree), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const core::Outcome outcome = Assembly::lead(std::move(listener), leader, shortLimits).outcome();
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(outcome.text, "after 250 ms, rank 1 has not joined; the last error of rank 0: Too many open files");
}

TEST(Assembly, ALateRankIsWaitedFor) {
  std::unique_ptr<Listener> listener = openListener();
  const net::Endpoint rank0 = listener->endpoint();
  std::future<Joined> early = beginToJoin(rank0, memberOf(1, 3)); // connects before rank 0 accepts
  std::future<Joined> leading = beginToLead(std::move(listener), memberOf(0, 3));
  EXPECT_EQ(leading.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  const std::unique_ptr<Assembly> last = take(beginToJoin(rank0, memberOf(2, 3)));
  EXPECT_TRUE(take(std::move(early)) && take(std::move(leading)) && last);
}

TEST(Assembly, Rank0MustBeThere) {
  net::Endpoint absent;
  absent.port = 1;
  absent.host = identifyThisProcess().host;
  const core::Outcome outcome = Assembly::join(absent, memberOf(1, 2), shortLimits).outcome();
  EXPECT_EQ(outcome.code, gc3Timeout);
  EXPECT_EQ(outcome.text, "rank 1 did not reach rank 0 within 250 ms: 127.0.0.1:1 (Connection refused); "
                          "NCCL_SOCKET_IFNAME can name the network interface");
}

TEST(Assembly, AnInterruptionEndsEachWait) {
  const auto interruptAfter = [](int polls) {
    return WaitLimits{longLimits.timeout, [polls]() mutable -> core::Outcome {
                        return polls-- > 0 ? core::Outcome{} : core::Outcome{gc3InvalidUsage, "aborted"};
                      }};
  };
  EXPECT_EQ(Assembly::lead(openListener(), memberOf(0, 2), interruptAfter(3)).outcome().text, "aborted");
  net::Endpoint absent;
  absent.port = 1;
  EXPECT_EQ(Assembly::join(absent, memberOf(1, 2), interruptAfter(3)).outcome().text, "aborted");
  std::vector<std::unique_ptr<Assembly>> all = joinAll(2);
  EXPECT_EQ(all[1]->gather({}, interruptAfter(3)).outcome().text, "aborted");
  EXPECT_EQ(describe(*all[0]->waitForLoss(longLimits.timeout)), "rank 1, which has failed: aborted");
}

TEST(Assembly, AGatherThatIsNotCompleteNamesTheRank) {
  std::vector<std::unique_ptr<Assembly>> all = joinAll(3);
  std::future<core::Outcome> other =
      std::async(std::launch::async, [&] { return all[1]->gather({}, longLimits).outcome(); });
  const core::Outcome outcome = all[0]->gather({}, shortLimits).outcome();
  EXPECT_EQ(outcome.code, gc3Timeout);
  EXPECT_EQ(outcome.text, "after 250 ms, rank 2 has not taken part in a gather");
  EXPECT_EQ(other.get().text, "rank 0, which has failed: after 250 ms, rank 2 has not taken part in a gather");
  EXPECT_EQ(all[2]->gather({}, longLimits).outcome().code, gc3RemoteError);
}

TEST(Assembly, AnErrorReachesAllRanks) {
  for (uint32_t failing : {0, 2}) {
    std::vector<std::unique_ptr<Assembly>> all = joinAll(4);
    all[failing]->report({gc3SystemError, "no memory"});
    all[failing]->report({gc3SystemError, "a later error"});
    for (const auto &each : all) {
      const Loss *loss = each->waitForLoss(longLimits.timeout);
      ASSERT_TRUE(loss);
      EXPECT_EQ(describe(*loss), "rank " + std::to_string(failing) + ", which has failed: no memory");
      EXPECT_EQ(loss, each->loss());
      EXPECT_EQ(loss, each->lossOf(failing));
      EXPECT_EQ(each->lossOf(1), nullptr);
    }
  }
}

TEST(Assembly, ALongErrorIsCut) {
  std::vector<std::unique_ptr<Assembly>> all = joinAll(2);
  all[0]->report({gc3SystemError, std::string(10000, 'x') + "\n"});
  EXPECT_EQ(all[1]->waitForLoss(longLimits.timeout)->text, std::string(4096, 'x'));
}

TEST(Assembly, ARankThatLeavesIsNoFailure) {
  std::vector<std::unique_ptr<Assembly>> all = joinAll(3);
  all[1]->leave(std::chrono::milliseconds(0));
  const core::Outcome outcome = all[2]->gather({}, longLimits).outcome(); // waits until the loss arrives
  EXPECT_EQ(outcome.code, gc3RemoteError);
  EXPECT_EQ(outcome.text, "rank 1, which has left");
  EXPECT_EQ(all[2]->loss(), nullptr);
  EXPECT_EQ(all[2]->lossOf(1)->kind, Loss::Kind::Left);
}

TEST(Assembly, Rank0LingersUntilTheOthersHaveLeft) {
  std::vector<std::unique_ptr<Assembly>> all = joinAll(3);
  std::future<void> leaving = std::async(std::launch::async, [&] { all[0]->leave(longLimits.timeout); });
  all[1]->report({gc3SystemError, "no memory"}); // rank 0 passes it on
  EXPECT_EQ(all[2]->waitForLoss(longLimits.timeout)->rank, 1U);
  all[1].reset();
  EXPECT_EQ(leaving.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  all[2].reset();
  leaving.get();
}

TEST(Assembly, Rank0LeavesFirst) {
  std::vector<std::unique_ptr<Assembly>> all = joinAll(3);
  all[0].reset();
  for (size_t rank : {1, 2}) {
    EXPECT_EQ(all[rank]->gather({}, longLimits).outcome().text, "rank 0, which has left");
    EXPECT_EQ(all[rank]->lossOf(0)->kind, Loss::Kind::Left);
  }
  all[1].reset();
  all[2]->report({gc3SystemError, "too late"});
  EXPECT_EQ(all[2]->loss()->rank, 2U);
}

TEST(Assembly, OneRankNeedsNoConnection) {
  const std::unique_ptr<Assembly> alone = take(beginToLead(openListener(), memberOf(0, 1)));
  EXPECT_EQ(*alone->gather(bytesFrom("x"), longLimits), Assembly::Gathered{bytesFrom("x")});
  alone->report({gc3SystemError, "no memory"});
  EXPECT_EQ(describe(*alone->waitForLoss(longLimits.timeout)), "rank 0, which has failed: no memory");
}

TEST(Assembly, RanksWithOtherSecretsDoNotJoin) {
  std::unique_ptr<Listener> listener = openListener();
  const net::Endpoint rank0 = listener->endpoint();
  const WaitLimits longer{4 * shortLimits.timeout, {}};
  std::future<Joined> leading = beginToLead(std::move(listener), memberOf(0, 2, "a secret"), longer);
  const core::Outcome outcome = Assembly::join(rank0, memberOf(1, 2, "b secret"), shortLimits).outcome();
  EXPECT_EQ(outcome.code, gc3Timeout);
  const std::string port = std::to_string(rank0.port);
  EXPECT_TRUE(outcome.text.starts_with("rank 1 did not reach rank 0 within 250 ms: 127.0.0.1:" + port +
                                       " (rank 0 has another GC3_SECRET)"))
      << outcome.text;
  EXPECT_EQ(outcome.text.find("NCCL_SOCKET_IFNAME"), std::string::npos) << outcome.text;
  EXPECT_EQ(leading.get().outcome().text,
            "after 1000 ms, rank 1 has not joined; a process that says it is rank 1 has another GC3_SECRET");
}

TEST(Assembly, AShortSecretIsAnError) {
  const auto secretOf = [](const char *entry) { return core::secret(core::Settings::read({&entry, 1})); };
  EXPECT_EQ(secretOf("GC3_SECRET=0123456789abcde").outcome().text,
            "GC3_SECRET has 15 characters; it can be a text of at least 16 characters");
  EXPECT_EQ(*secretOf("GC3_SECRET=0123456789abcdef"), "0123456789abcdef");
  EXPECT_EQ(*secretOf("GC3_SECRET="), "");
}

TEST(Assembly, RanksWithOneSecretJoin) {
  std::unique_ptr<Listener> listener = openListener();
  const net::Endpoint rank0 = listener->endpoint();
  std::future<Joined> leading = beginToLead(std::move(listener), memberOf(0, 2, "a secret"));
  const std::unique_ptr<Assembly> other = take(beginToJoin(rank0, memberOf(1, 2, "a secret")));
  EXPECT_TRUE(take(std::move(leading)));
}

TEST(Assembly, AssembliesOfOneProcessAreIndependent) {
  std::vector<std::unique_ptr<Assembly>> some = joinAll(2), others = joinAll(2);
  some[1]->report({gc3SystemError, "no memory"});
  EXPECT_TRUE(some[0]->waitForLoss(longLimits.timeout));
  const auto values = onEach(2, [&](size_t rank) { return *others[rank]->gatherEach(rank, longLimits); });
  EXPECT_EQ(values, std::vector<std::vector<size_t>>(2, {0, 1}));
  EXPECT_FALSE(others[0]->loss());
}

} // namespace
