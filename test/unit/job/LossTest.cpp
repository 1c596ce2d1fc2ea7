// SPDX-License-Identifier: Apache-2.0
// Processes that end, stop or send damaged data, in each stage.
#include "Members.h"
#include "Process.h"

#include "job/Message.h"
#include "job/ProcessState.h"
#include "net/Dial.h"
#include "net/Reception.h"

#include <asio/read.hpp>
#include <asio/write.hpp>

using namespace gc3;
using namespace gc3::job;

namespace {

/// A rank whose messages the test writes itself.
class Raw {
public:
  Raw(const net::Endpoint &rank0, uint32_t rank, uint32_t ranks) : rank(rank), ranks(ranks) {
    net::Dial dial(net::targetsOf(rank0, identifyThisProcess().host), net::Key(rank0.token, {}), rank, ranks);
    EXPECT_TRUE(dial.connect(net::Clock::now() + longLimits.timeout, {}).ok());
    socket = dial.moveSocket(context);
  }
  void send(const std::vector<uint8_t> &bytes) { asio::write(socket, asio::buffer(bytes)); }
  void send(const Message &message) { send(writeMessage(message)); }
  void sendIdentity() { send({Message::Kind::Data, rank, 0, writeIdentity(identifyThisProcess())}); }
  /// Returns the next message; one of the kind `Question` if the connection ends.
  Message receive() {
    HeaderBytes header{};
    asio::error_code error;
    asio::read(socket, asio::buffer(header), error);
    const std::optional<Announcement> next = readHeader(header, ranks);
    if (error || !next)
      return {Message::Kind::Question, 0, 0, {}};
    Message message = next->message;
    message.bytes.resize(next->bytes);
    asio::read(socket, asio::buffer(message.bytes), error);
    return message;
  }
  /// Waits until rank 0 waits only for these ranks.
  void waitUntilMissing(const std::string &missing) {
    std::string answer;
    while (answer != missing) {
      send({Message::Kind::Question, rank, 0, {}});
      answer = textOf(receive().bytes);
    }
  }

private:
  const uint32_t rank, ranks;
  asio::io_context context;
  net::Tcp::socket socket{context};
};

/// A process that is a rank. It joins when it gets the endpoint of rank 0, confirms, and waits for a signal.
void followAsRank(uint32_t rank, uint32_t ranks, Wire wire) {
  const auto rank0 = wire.receive<net::Endpoint>();
  const std::unique_ptr<Assembly> assembly = take(beginToJoin(rank0, memberOf(rank, ranks)));
  wire.send('j');
  wire.waitForEnd();
}

/// A process that is rank 0. It sends its endpoint, confirms, and waits for a signal.
void leadAsRank0(uint32_t ranks, Wire wire) {
  std::unique_ptr<Listener> listener = openListener();
  wire.send(listener->endpoint());
  const std::unique_ptr<Assembly> assembly = take(beginToLead(std::move(listener), memberOf(0, ranks)));
  wire.send('j');
  wire.waitForEnd();
}

std::string hasEnded(uint32_t rank, pid_t process) {
  return "rank " + std::to_string(rank) + ", whose process " + std::to_string(process) + " on host " +
         identifyThisProcess().hostName + " has ended";
}

TEST(Loss, AKilledRankIsNamedOnAllRanks) {
  Process process([](Wire wire) { followAsRank(2, 3, std::move(wire)); });
  std::unique_ptr<Listener> listener = openListener();
  const net::Endpoint rank0 = listener->endpoint();
  process.wire.send(rank0);
  std::future<Joined> leading = beginToLead(std::move(listener), memberOf(0, 3));
  const std::unique_ptr<Assembly> other = take(beginToJoin(rank0, memberOf(1, 3))), leader = take(std::move(leading));
  ASSERT_EQ(process.wire.receive<char>(), 'j');
  std::future<core::Outcome> waiting =
      std::async(std::launch::async, [&] { return other->gather({}, longLimits).outcome(); });
  process.signal(SIGKILL);
  for (Assembly *each : {leader.get(), other.get()}) {
    const Loss *loss = each->waitForLoss(longLimits.timeout);
    ASSERT_TRUE(loss);
    EXPECT_EQ(loss->kind, Loss::Kind::Ended);
    EXPECT_EQ(describe(*loss), hasEnded(2, process.id));
  }
  const core::Outcome outcome = waiting.get();
  EXPECT_EQ(outcome.code, gc3RemoteError);
  EXPECT_EQ(outcome.text, hasEnded(2, process.id));
  EXPECT_EQ(leader->gather({}, longLimits).outcome().text, hasEnded(2, process.id));
}

TEST(Loss, AKilledRank0IsNamedOnAllRanks) {
  Process process([](Wire wire) { leadAsRank0(3, std::move(wire)); });
  const auto rank0 = process.wire.receive<net::Endpoint>();
  std::future<Joined> second = beginToJoin(rank0, memberOf(2, 3));
  const std::unique_ptr<Assembly> first = take(beginToJoin(rank0, memberOf(1, 3))), last = take(std::move(second));
  ASSERT_EQ(process.wire.receive<char>(), 'j');
  process.signal(SIGKILL);
  for (Assembly *each : {first.get(), last.get()})
    EXPECT_EQ(describe(*each->waitForLoss(longLimits.timeout)), hasEnded(0, process.id));
}

TEST(Loss, ARankThatEndsBeforeAllHaveJoinedIsNamed) {
  Process process([](Wire wire) {
    Raw rank(wire.receive<net::Endpoint>(), 2, 4);
    rank.sendIdentity();
    rank.waitUntilMissing("rank 3 has not joined");
    wire.send('j');
    wire.waitForEnd();
  });
  std::unique_ptr<Listener> listener = openListener();
  const net::Endpoint rank0 = listener->endpoint();
  process.wire.send(rank0);
  std::future<Joined> leading = beginToLead(std::move(listener), memberOf(0, 4)),
                      other = beginToJoin(rank0, memberOf(1, 4));
  ASSERT_EQ(process.wire.receive<char>(), 'j');
  process.signal(SIGKILL);
  for (auto *each : {&leading, &other}) {
    const core::Outcome outcome = each->get().outcome();
    EXPECT_EQ(outcome.code, gc3RemoteError);
    EXPECT_EQ(outcome.text, hasEnded(2, process.id));
  }
}

TEST(Loss, Rank0EndsBeforeAllHaveJoined) {
  Process process([](Wire wire) { leadAsRank0(4, std::move(wire)); });
  const auto rank0 = process.wire.receive<net::Endpoint>();
  std::future<Joined> joining = beginToJoin(rank0, memberOf(1, 4));
  Raw observer(rank0, 2, 4);
  observer.waitUntilMissing("ranks 2, 3 have not joined");
  process.signal(SIGKILL);
  const core::Outcome outcome = joining.get().outcome();
  EXPECT_EQ(outcome.code, gc3RemoteError);
  EXPECT_EQ(outcome.text, "rank 0, whose process has ended") << "its identity is unknown";
}

/// A child that a rank has forked keeps the rank's connection open.
TEST(Loss, AKilledRankThatHasForkedIsNamed) {
  Process process([](Wire wire) {
    const auto rank0 = wire.receive<net::Endpoint>();
    const std::unique_ptr<Assembly> assembly = take(beginToJoin(rank0, memberOf(1, 2)));
    if (fork() != 0)
      wire.send('j');
    wire.waitForEnd();
  });
  std::unique_ptr<Listener> listener = openListener();
  process.wire.send(listener->endpoint());
  const std::unique_ptr<Assembly> leader = take(beginToLead(std::move(listener), memberOf(0, 2)));
  ASSERT_EQ(process.wire.receive<char>(), 'j');
  process.signal(SIGKILL);
  EXPECT_EQ(describe(*leader->waitForLoss(longLimits.timeout)), hasEnded(1, process.id));
}

TEST(Loss, AProcessThatLeavesAndEndsIsNoFailure) {
  for (int i = 0; i < 20; ++i) {
    Process process([](Wire wire) {
      const auto rank0 = wire.receive<net::Endpoint>();
      take(beginToJoin(rank0, memberOf(1, 2)))->leave(std::chrono::milliseconds(0));
    });
    std::unique_ptr<Listener> listener = openListener();
    process.wire.send(listener->endpoint());
    const std::unique_ptr<Assembly> leader = take(beginToLead(std::move(listener), memberOf(0, 2)));
    process.wait();
    EXPECT_EQ(leader->gather({}, longLimits).outcome().text, "rank 1, which has left");
    EXPECT_EQ(leader->loss(), nullptr);
  }
}

TEST(Loss, AStoppedProcessIsNotLost) {
  Process process([](Wire wire) { followAsRank(1, 2, std::move(wire)); });
  std::unique_ptr<Listener> listener = openListener();
  process.wire.send(listener->endpoint());
  const std::unique_ptr<Assembly> leader = take(beginToLead(std::move(listener), memberOf(0, 2)));
  ASSERT_EQ(process.wire.receive<char>(), 'j');
  const auto id = static_cast<uint32_t>(process.id);
  EXPECT_EQ(stateOfProcess(id), ProcessState::Running);
  process.signal(SIGSTOP);
  EXPECT_EQ(stateOfProcess(id), ProcessState::Stopped);
  EXPECT_EQ(leader->waitForLoss(std::chrono::milliseconds(50)), nullptr);
  const core::Outcome outcome = leader->gather({}, shortLimits).outcome();
  EXPECT_EQ(outcome.code, gc3Timeout);
  EXPECT_EQ(outcome.text, "after 250 ms, rank 1 has not taken part in a gather; process " + std::to_string(id) +
                              " on host " + identifyThisProcess().hostName + " is stopped");
  process.signal(SIGKILL);
  EXPECT_EQ(stateOfProcess(id), ProcessState::Ended) << "its status is not collected";
  process.wait();
  EXPECT_EQ(stateOfProcess(id), ProcessState::Ended);
  EXPECT_EQ(describeState(id, "a"), "whose process " + std::to_string(id) + " on host a has ended");
}

TEST(Loss, AStoppedRank0DoesNotAnswer) {
  Process process([](Wire wire) { leadAsRank0(2, std::move(wire)); });
  const auto rank0 = process.wire.receive<net::Endpoint>();
  const std::unique_ptr<Assembly> other = take(beginToJoin(rank0, memberOf(1, 2)));
  ASSERT_EQ(process.wire.receive<char>(), 'j');
  process.signal(SIGSTOP);
  EXPECT_EQ(other->gather({}, shortLimits).outcome().text, "after 250 ms, rank 0 does not answer; process " +
                                                               std::to_string(process.id) + " on host " +
                                                               identifyThisProcess().hostName + " is stopped");
}

TEST(Loss, DamagedMessagesEndTheirRank) {
  const std::vector<uint8_t> identity = writeIdentity(identifyThisProcess());
  std::vector<uint8_t> wrongMagic = writeMessage({Message::Kind::Left, 1, 0, {}});
  wrongMagic[0] ^= 1;
  const std::vector<uint8_t> damaged[] = {wrongMagic,
                                          writeMessage({Message::Kind::Left, 2, 0, {}}),  // for another rank
                                          writeMessage({Message::Kind::Data, 1, 1, {}}),  // a later round
                                          writeMessage({Message::Kind::Data, 1, 0, {1}}), // no identity
                                          writeMessage({Message::Kind::Gathered, 1, 0, {}}),
                                          writeMessage({Message::Kind::Answer, 1, 0, {}}),
                                          writeMessage({Message::Kind::Ended, 1, 0, {}})};
  for (const auto &bytes : damaged) {
    std::unique_ptr<Listener> listener = openListener();
    const net::Endpoint rank0 = listener->endpoint();
    std::future<Joined> leading = beginToLead(std::move(listener), memberOf(0, 3));
    Raw rank(rank0, 1, 3);
    rank.send(bytes);
    EXPECT_EQ(leading.get().outcome().text, "rank 1, whose process has sent damaged data");
  }
}

TEST(Loss, DamagedMessagesOfRank0EndIt) {
  const std::vector<uint8_t> identity = writeIdentity(identifyThisProcess());
  const Message damaged[] = {{Message::Kind::Gathered, 0, 0, {1, 2, 3}},
                             {Message::Kind::Gathered, 0, 0, writeGathered({identity, {}})},
                             {Message::Kind::Gathered, 0, 1, writeGathered({identity, identity})},
                             {Message::Kind::Data, 0, 0, identity},
                             {Message::Kind::Question, 0, 0, {}}};
  for (const Message &message : damaged) {
    asio::io_context context{1};
    net::Reception reception(context);
    ASSERT_TRUE(reception.open(0, 1).ok());
    net::Endpoint rank0;
    rank0.port = reception.port();
    rank0.host = identifyThisProcess().host;
    std::optional<net::Tcp::socket> socket;
    reception.start(net::Key(rank0.token, {}), 2,
                    [&](uint32_t, net::Tcp::socket connected) { socket = std::move(connected); });
    std::future<Joined> joining = beginToJoin(rank0, memberOf(1, 2));
    ASSERT_TRUE(
        net::runUntil(context, [&] { return socket.has_value(); }, net::Clock::now() + longLimits.timeout, {}).ok());
    std::vector<uint8_t> own(headerBytes + identity.size());
    asio::read(*socket, asio::buffer(own)); // rank 1 waits for the result now
    asio::write(*socket, asio::buffer(writeMessage(message)));
    EXPECT_EQ(joining.get().outcome().text, "rank 0, whose process has sent damaged data");
  }
}

} // namespace
