// SPDX-License-Identifier: Apache-2.0
// Connections that do not belong to the communicator, ranks that do not connect, and damaged data.
#include "Ranks.h"
#include "net/Dial.h"
#include "net/Hub.h"
#include "net/Reception.h"

#include <asio/read.hpp>
#include <asio/write.hpp>

using namespace gc3;
using namespace gc3::net;

namespace {

constexpr std::chrono::milliseconds shortTime(250);

core::Outcome connectFor(Exchanger &exchanger, const Endpoint &endpoint, std::chrono::milliseconds time) {
  return exchanger.connect(endpoint, time, {});
}

/// A connection to rank 0 that Exchanger does not make.
class Stranger {
public:
  explicit Stranger(const Endpoint &endpoint) {
    socket.connect({asio::ip::address_v4::loopback(), static_cast<uint16_t>(endpoint.port)});
  }
  void send(const void *bytes, size_t size) { asio::write(socket, asio::buffer(bytes, size)); }
  void send(const Greeting &greeting) {
    const GreetingBytes bytes = writeGreeting(greeting);
    send(bytes.data(), bytes.size());
  }
  /// Waits until rank 0 closes the connection. Returns the bytes that it sent before.
  size_t readToEnd() {
    std::array<char, 1000> bytes{};
    asio::error_code error;
    return asio::read(socket, asio::buffer(bytes), error);
  }

private:
  asio::io_context context;
  Tcp::socket socket{context};
};

Greeting helloOf(uint32_t rank, uint32_t ranks, const Endpoint &endpoint) {
  Greeting hello;
  hello.rank = rank;
  hello.ranks = ranks;
  hello.tag = Key(endpoint.token, {}).tag();
  return hello;
}

/// 127.0.0.2 is another address of this machine.
bool isReachedElsewhere(const std::string &host) {
  asio::io_context context;
  Reception reception(context);
  EXPECT_EQ(reception.open(0, 1, host).text, "");
  asio::error_code here, elsewhere;
  Tcp::socket one(context), other(context);
  one.connect({asio::ip::make_address("127.0.0.1"), reception.port()}, here);
  EXPECT_FALSE(here);
  other.connect({asio::ip::make_address("127.0.0.2"), reception.port()}, elsewhere);
  return !elsewhere;
}

TEST(Strangers, ALoopbackAddressKeepsOtherMachinesOut) {
  EXPECT_FALSE(isReachedElsewhere("127.0.0.1"));
  EXPECT_TRUE(isReachedElsewhere("a-host"));
  EXPECT_TRUE(isReachedElsewhere(""));
}

TEST(Strangers, TheyAreDroppedAndDisturbNoRank) {
  Ranks ranks(3);
  const Endpoint endpoint = ranks.endpoint;
  std::vector<Greeting> wrong(3, helloOf(1, 3, endpoint));
  wrong[0].tag ^= 1;
  wrong[1].kind = Greeting::Kind::Confirmation;
  wrong[2].tag = 0;
  wrong.push_back(helloOf(0, 3, endpoint));
  wrong.push_back(helloOf(3, 3, endpoint));
  std::vector<std::unique_ptr<Stranger>> dropped, silent;
  for (const Greeting &greeting : wrong) {
    dropped.push_back(std::make_unique<Stranger>(endpoint));
    dropped.back()->send(greeting);
  }
  dropped.push_back(std::make_unique<Stranger>(endpoint));
  dropped.back()->send(std::string(greetingBytes, 'x').data(), greetingBytes);
  for (int i = 0; i < 2; ++i)
    silent.push_back(std::make_unique<Stranger>(endpoint));
  silent[0]->send("gc3greet", 8); // a part of a hello
  Stranger(endpoint).send("", 0); // ends at once
  Stranger unconfirmed(endpoint), replayed(endpoint), withoutProof(endpoint);
  for (Stranger *each : {&unconfirmed, &replayed, &withoutProof}) // they do not take the place of rank 2
    each->send(helloOf(2, 3, endpoint));
  Greeting confirmation = helloOf(2, 3, endpoint);
  confirmation.kind = Greeting::Kind::Confirmation;
  withoutProof.send(confirmation);
  confirmation.proof = Key(endpoint.token, {}).prove({Key::Side::Other, 2, 3, {}, {}}); // of another connection
  replayed.send(confirmation);
  ranks.start();
  for (const auto &stranger : dropped)
    EXPECT_EQ(stranger->readToEnd(), 0U);
  for (const auto &stranger : silent)
    EXPECT_EQ(stranger->readToEnd(), 0U);
  for (Stranger *each : {&unconfirmed, &replayed, &withoutProof})
    EXPECT_EQ(each->readToEnd(), greetingBytes);
  for (uint32_t rank : {0, 1, 2})
    ranks[rank].begin(makeMessage(0));
  select::Exchange result;
  for (uint32_t rank : {0, 1, 2})
    EXPECT_TRUE(ranks[rank].takeWithin(longTime, result));
}

TEST(Strangers, AFloodOfSilentConnectionsDisturbsNoRank) {
  Ranks ranks(2);
  std::vector<std::unique_ptr<Stranger>> silent;
  for (int i = 0; i < 300; ++i)
    silent.push_back(std::make_unique<Stranger>(ranks.endpoint));
  ranks.start();
  for (const auto &stranger : silent)
    EXPECT_EQ(stranger->readToEnd(), 0U);
}

TEST(Strangers, ASecondConnectionOfARankIsRefused) {
  Ranks ranks(3);
  std::future<core::Outcome> rank0 = std::async(std::launch::async, [&] { return connectFor(ranks[0], {}, longTime); });
  EXPECT_TRUE(connectFor(ranks[1], ranks.endpoint, longTime).ok());
  Exchanger second({1, 3, 1});
  const core::Outcome outcome = connectFor(second, ranks.endpoint, shortTime);
  EXPECT_EQ(outcome.code, gc3Timeout);
  EXPECT_NE(outcome.text.find("127.0.0.1:" + std::to_string(ranks.endpoint.port) +
                              " (rank 0 has a connection from another process that is the same rank)"),
            std::string::npos)
      << outcome.text;
  EXPECT_TRUE(connectFor(ranks[2], ranks.endpoint, longTime).ok());
  EXPECT_TRUE(rank0.get().ok());
}

TEST(Strangers, ARankWithAnotherCountOfRanksIsRefused) {
  Ranks ranks(3);
  std::future<core::Outcome> rank0 =
      std::async(std::launch::async, [&] { return connectFor(ranks[0], {}, 4 * shortTime); });
  Exchanger other({2, 4, 1});
  EXPECT_NE(connectFor(other, ranks.endpoint, shortTime).text.find("(rank 0 expects 3 ranks, not 4)"),
            std::string::npos);
  EXPECT_EQ(rank0.get().text,
            "online selection: ranks 1, 2 did not connect to rank 0 in time; check that their machines "
            "reach a port of rank 0's machine; a process that says it is rank 2 expects 4 ranks, not 3");
}

TEST(Strangers, AnotherVersionIsRefused) {
  Ranks ranks(2);
  Greeting hello = helloOf(1, 2, ranks.endpoint);
  ++hello.version;
  Stranger newer(ranks.endpoint);
  newer.send(hello);
  EXPECT_EQ(connectFor(ranks[0], {}, shortTime).text,
            "online selection: rank 1 did not connect to rank 0 in time; check that their machines reach a port of "
            "rank 0's machine; a process that says it is rank 1 has another version of gc3 (protocol 3, here 2)");
  EXPECT_EQ(newer.readToEnd(), greetingBytes) << "the refusal";
}

TEST(Strangers, ARank0OfAnotherVersionIsNamed) {
  asio::io_context context;
  Tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), 0});
  Endpoint endpoint;
  endpoint.port = acceptor.local_endpoint().port();
  endpoint.host = 1;
  std::thread newer([&] {
    Tcp::socket socket = acceptor.accept();
    Greeting refusal = helloOf(1, 2, endpoint);
    refusal.kind = Greeting::Kind::Refusal;
    refusal.reason = Greeting::Reason::OtherVersion;
    ++refusal.version;
    asio::write(socket, asio::buffer(writeGreeting(refusal)));
    char end = 0;
    asio::error_code error;
    while (!error)
      asio::read(socket, asio::buffer(&end, 1), error);
  });
  Exchanger exchanger({1, 2, 1});
  const core::Outcome outcome = connectFor(exchanger, endpoint, shortTime);
  newer.join();
  EXPECT_NE(outcome.text.find("127.0.0.1:" + std::to_string(endpoint.port) +
                              " (rank 0 has another version of gc3 (protocol 3, here 2))"),
            std::string::npos)
      << outcome.text;
}

TEST(Strangers, Ipv6AddressesAreReached) {
  Ranks ranks(2);
  Endpoint endpoint = ranks.endpoint;
  endpoint.host = 2; // another machine than the rank's
  endpoint.addressCount = 1;
  endpoint.addresses[0] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  std::future<core::Outcome> rank0 = std::async(std::launch::async, [&] { return connectFor(ranks[0], {}, longTime); });
  EXPECT_TRUE(connectFor(ranks[1], endpoint, longTime).ok());
  EXPECT_TRUE(rank0.get().ok());
}

TEST(Strangers, ARankWithAnotherSecretIsRefused) {
  Exchanger rank0({0, 2, 1, "a secret"}), other({1, 2, 1, "b secret"});
  const Endpoint endpoint = *rank0.listen("");
  std::future<core::Outcome> accepting =
      std::async(std::launch::async, [&] { return connectFor(rank0, {}, 4 * shortTime); });
  EXPECT_NE(connectFor(other, endpoint, shortTime).text.find("(rank 0 has another GC3_SECRET)"), std::string::npos);
  EXPECT_EQ(accepting.get().text, "online selection: rank 1 did not connect to rank 0 in time; check that their "
                                  "machines reach a port of rank 0's machine; a process that says it is rank 1 has "
                                  "another GC3_SECRET");
}

TEST(Strangers, AProgramThatIsNotRank0IsNotTaken) {
  asio::io_context context;
  Tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), 0});
  Endpoint endpoint;
  endpoint.port = acceptor.local_endpoint().port();
  endpoint.host = 1;
  endpoint.token = {3, 4};
  std::thread echo([&] { // sends the hello back
    Tcp::socket socket = acceptor.accept();
    GreetingBytes bytes{};
    asio::read(socket, asio::buffer(bytes));
    asio::write(socket, asio::buffer(bytes));
  });
  Exchanger exchanger({1, 2, 1});
  const core::Outcome outcome = connectFor(exchanger, endpoint, shortTime);
  echo.join();
  EXPECT_EQ(outcome.code, gc3Timeout);
  EXPECT_EQ(outcome.text, "online selection: rank 1 did not reach rank 0 in time: 127.0.0.1:" +
                              std::to_string(endpoint.port) + " (another program answers)");
}

TEST(Strangers, MissingRanksAreNamed) {
  Ranks ranks(5);
  std::future<core::Outcome> rank0 =
      std::async(std::launch::async, [&] { return connectFor(ranks[0], {}, 2 * shortTime); });
  EXPECT_TRUE(connectFor(ranks[3], ranks.endpoint, longTime).ok());
  const core::Outcome outcome = rank0.get();
  EXPECT_EQ(outcome.code, gc3Timeout);
  EXPECT_EQ(outcome.text,
            "online selection: ranks 1, 2, 4 did not connect to rank 0 in time; check that their machines "
            "reach a port of rank 0's machine");
}

TEST(Strangers, AddressesAreTriedInOrder) {
  Ranks ranks(2);
  Endpoint endpoint = ranks.endpoint;
  endpoint.host = 2; // another machine than the rank's
  endpoint.addressCount = 2;
  endpoint.addresses[0] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 240, 0, 0, 1}; // reserved
  endpoint.addresses[1] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
  std::future<core::Outcome> rank0 = std::async(std::launch::async, [&] { return connectFor(ranks[0], {}, longTime); });
  EXPECT_TRUE(connectFor(ranks[1], endpoint, longTime).ok());
  EXPECT_TRUE(rank0.get().ok());
  Exchanger exchanger({1, 2, 1});
  EXPECT_EQ(connectFor(exchanger, Endpoint{}, std::chrono::milliseconds(1)).text,
            "online selection: rank 1 did not reach rank 0 in time, because its machine has no address; "
            "NCCL_SOCKET_IFNAME can name the network interface");
}

TEST(Strangers, AnInterruptionEndsTheWait) {
  Ranks ranks(2);
  for (uint32_t rank : {0, 1}) {
    int polls = 0;
    Endpoint endpoint = ranks.endpoint;
    endpoint.token[0] ^= 1; // rank 0 drops the hello of rank 1
    const core::Outcome outcome = ranks[rank].connect(endpoint, longTime, [&]() -> core::Outcome {
      return ++polls < 3 ? core::Outcome{} : core::Outcome{gc3InvalidUsage, "aborted"};
    });
    EXPECT_EQ(outcome.code, gc3InvalidUsage);
    EXPECT_EQ(outcome.text, "aborted");
  }
}

/// Connects a rank's socket without an exchanger.
void sendAs(uint32_t rank, const Endpoint &endpoint, const std::vector<uint8_t> &bytes) {
  Dial dial(targetsOf(endpoint, 1), Key(endpoint.token, {}), rank, 2);
  ASSERT_TRUE(dial.connect(Clock::now() + longTime, {}).ok());
  asio::io_context context;
  Tcp::socket socket = dial.moveSocket(context);
  asio::write(socket, asio::buffer(bytes));
  char end = 0;
  asio::error_code error;
  asio::read(socket, asio::buffer(&end, 1), error); // waits until rank 0 closes the connection
}

TEST(Strangers, DamagedMessagesAreErrorsOfTheirRank) {
  std::vector<uint8_t> changed = writeFrame({0, makeMessage(0)});
  changed[0] = 'x';
  for (const auto &bytes : {changed, writeFrame({1, makeMessage(1)}), writeFrame({0, select::Exchange{}}),
                            writeFrame({0, Failure{"lost"}}), writeFrame({Hub::mostAhead + 1, Hurry{}})}) {
    Ranks ranks(2);
    std::thread other([&] { sendAs(1, ranks.endpoint, bytes); });
    EXPECT_TRUE(connectFor(ranks[0], {}, longTime).ok());
    EXPECT_TRUE(ranks[0].start([](select::Message &) { return true; }, {}).ok());
    ranks[0].begin(makeMessage(0));
    select::Exchange result;
    EXPECT_FALSE(ranks[0].takeWithin(longTime, result));
    EXPECT_EQ(ranks[0].error().text, "online selection: rank 1 sent damaged data before exchange 0");
    other.join();
  }
}

/// Returns the error of rank 1 after rank 0 has sent these bytes.
std::string errorAfter(const std::vector<uint8_t> &bytes) {
  asio::io_context context{1};
  Reception reception(context);
  Endpoint endpoint;
  endpoint.host = 1;
  EXPECT_TRUE(reception.open(0, 1).ok());
  endpoint.port = reception.port();
  std::optional<Tcp::socket> connected;
  reception.start(Key(endpoint.token, {}), 2, [&](uint32_t, Tcp::socket socket) { connected = std::move(socket); });
  Exchanger exchanger({1, 2, 1});
  std::future<core::Outcome> rank1 =
      std::async(std::launch::async, [&] { return connectFor(exchanger, endpoint, longTime); });
  EXPECT_TRUE(runUntil(context, [&] { return reception.isComplete(); }, Clock::now() + longTime, {}).ok());
  EXPECT_TRUE(rank1.get().ok());
  exchanger.begin(makeMessage(0));
  EXPECT_TRUE(exchanger.start([](select::Message &) { return true; }, {}).ok());
  asio::write(*connected, asio::buffer(bytes));
  connected->shutdown(Tcp::socket::shutdown_send);
  select::Exchange result;
  EXPECT_FALSE(exchanger.takeWithin(longTime, result));
  return exchanger.error().text;
}

TEST(Strangers, DamagedResultsAreErrorsOfRank0) {
  const select::Exchange good{0, 3, 0, {}, {}, ""};
  select::Exchange otherCall = good, otherCount = good;
  otherCall.call = 16;
  otherCount.count = 1;
  for (const Frame &frame : {Frame{1, good}, Frame{0, otherCall}, Frame{0, otherCount}, Frame{0, makeMessage(0)}})
    EXPECT_EQ(errorAfter(writeFrame(frame)), "online selection: rank 0 sent damaged data");
  EXPECT_EQ(errorAfter(writeFrame({0, Failure{"online selection: rank 7 ended"}})), "online selection: rank 7 ended");
  EXPECT_EQ(errorAfter({}), "online selection: rank 0 ended its connection");
}

} // namespace
