// SPDX-License-Identifier: Apache-2.0
// A transport alone: what it sends, and what it makes of bytes from other hosts.
#include "CheckTransport.h"

#include "host/Transport.h"

#include "api/RemoteAnnouncement.h"
#include "host/Memory.h"

#include <deque>
#include <gtest/gtest.h>
#include <random>

using namespace gc3;
using host::WireHeader;
using FrameKind = WireHeader::Kind;

namespace {

/// Keeps what is sent, and receives what the test has written.
class ScriptedWire final : public host::Wire {
public:
  struct Frame {
    std::vector<std::byte> header, data;
  };
  struct State {
    std::deque<Frame> arriving;
    uint32_t sends = 0;            ///< system calls, for UCX
    std::vector<WireHeader> sent;  ///< also those in batches
    std::vector<std::string> data; ///< of each header that was sent
    std::vector<uint64_t *> incomplete;
    std::optional<std::string> loss;
    bool isStuck = false;
  };
  explicit ScriptedWire(State &shared) : state(shared) {}

  Bytes address() const override { return {}; }
  core::Outcome connect(uint32_t, Bytes) override { return {}; }
  void send(uint32_t, const WireHeader &header, Bytes data) override { note(header, data); }
  void sendInPlace(uint32_t, const WireHeader &header, Bytes data, uint64_t &completed) override {
    note(header, data);
    state.incomplete.push_back(&completed);
  }
  bool progress(Receiver &receiver) override {
    const bool hasArrived = !state.arriving.empty();
    for (; !state.arriving.empty(); state.arriving.pop_front())
      receiver.receive(state.arriving.front().header, state.arriving.front().data);
    if (state.loss)
      receiver.lose(1, *state.loss);
    return hasArrived;
  }
  void beginFlush() override { isFlushing = state.isStuck; }
  bool isFlushed() const override { return !isFlushing; }
  bool arm() override { return false; }
  int event() const override { return -1; }
  void close() override {}

private:
  void note(const WireHeader &header, Bytes data) {
    ++state.sends;
    while (header.kind == FrameKind::Batch && !data.empty()) {
      const WireHeader inner = *host::readHeader(data.first(sizeof(host::HeaderImage)));
      add(inner, data.subspan(sizeof(host::HeaderImage), inner.bytes));
      data = data.subspan(sizeof(host::HeaderImage) + inner.bytes);
    }
    if (header.kind != FrameKind::Batch)
      add(header, data);
  }
  void add(WireHeader header, Bytes data) {
    header.bytes = 0;
    state.sent.push_back(header);
    state.data.emplace_back(reinterpret_cast<const char *>(data.data()), data.size());
  }
  State &state;
  bool isFlushing = false;
};

class Announced final : public host::Transport::Announcements {
public:
  bool receive(uint32_t rank, uint64_t number, std::span<const std::byte> data) override {
    all.emplace_back(rank, number);
    return data.size() == 2;
  }
  std::vector<std::pair<uint32_t, uint64_t>> all;
};

/// Rank 0 on a host, and rank 1 on another one. A prepared call has connections 3, to rank 1, and 5, from rank 1.
class TransportTest : public testing::Test {
protected:
  static constexpr uint64_t call = (uint64_t{77} << 32) | 2;
  static constexpr uint32_t slots = 2;
  static constexpr uint64_t perCall = 5; ///< messages of a connection
  static constexpr size_t slotBytes = 32 << 10;

  TransportTest() {
    memory.reserve(2 * (sizeof(host::Fifo) + slots * slotBytes));
    for (uint32_t i = 0; i < 2; ++i) {
      auto *const fifo = new (memory.data() + i * sizeof(host::Fifo)) host::Fifo;
      fifo->place((2 - i) * sizeof(host::Fifo) + i * slots * slotBytes, slotBytes, slots);
    }
    mirror.call = call;
    mirror.outgoing.push_back({&out(), 3, 1, perCall, std::vector<uint64_t>(slots)});
    mirror.incoming.push_back({&in(), 5, 1, perCall});
    transport.setAnnouncements(announced);
    const std::vector<uint8_t> own = transport.address();
    std::memcpy(&token, own.data(), sizeof token);
    arrive(FrameKind::Hello);
    const std::vector<std::vector<uint8_t>> addresses(2, own);
    EXPECT_TRUE(transport
                    .connect(addresses, std::chrono::steady_clock::now() + std::chrono::seconds(60),
                             [] { return core::Outcome{}; })
                    .ok());
    forgetSent();
  }

  host::Fifo &out() { return reinterpret_cast<host::Fifo *>(memory.data())[0]; }
  host::Fifo &in() { return reinterpret_cast<host::Fifo *>(memory.data())[1]; }
  WireHeader header(FrameKind kind, uint32_t place = 0, uint64_t number = 0) const {
    WireHeader made;
    made.kind = kind, made.token = token, made.process = 1, made.place = place, made.number = number;
    if (kind == FrameKind::Message || kind == FrameKind::Credit)
      made.call = call;
    made.callNumber = kind == FrameKind::Message ? 1 : 0;
    return made;
  }
  void arrive(const WireHeader &made, const std::string &data = {}) {
    const host::HeaderImage image = host::writeHeader(made);
    const auto bytes = std::as_bytes(std::span(&image, 1)), rest = std::as_bytes(std::span(data));
    wire.arriving.push_back({{bytes.begin(), bytes.end()}, {rest.begin(), rest.end()}});
  }
  void arrive(FrameKind kind, uint32_t place = 0, uint64_t number = 0, const std::string &data = {}) {
    arrive(header(kind, place, number), data);
  }
  void enter(uint64_t number) {
    mirror.lastCall.store(number);
    transport.announce(0, number, {});
    mirror.begun.store(number);
    transport.progress();
    forgetSent();
  }
  void forgetSent() { wire.sent.clear(), wire.data.clear(), wire.sends = 0; }
  void send(const std::string &text) {
    ASSERT_TRUE(out().hasSlot());
    std::memcpy(out().freeSlot(), text.data(), text.size());
    mirror.outgoing[0].bytes[out().sendSlot] = text.size();
    out().finishSend();
  }
  std::string receive() {
    if (!in().hasMessage())
      return "nothing";
    std::string text(reinterpret_cast<const char *>(in().message()));
    in().finishReceive();
    return text;
  }
  void addToBatch(std::string &batch, FrameKind kind, const std::string &data) const {
    WireHeader made = header(kind, 1, 1);
    made.bytes = data.size();
    const host::HeaderImage image = host::writeHeader(made);
    batch.append(reinterpret_cast<const char *>(&image), sizeof image);
    batch += data;
  }
  std::string violation() {
    transport.progress();
    return transport.violation().text;
  }
  static std::string protocolError(const std::string &what) {
    return "rank 1 (process 4711 on host b) does not follow gc3's protocol between hosts: " + what;
  }

  uint64_t token = 0;
  ScriptedWire::State wire;
  host::Memory memory;
  host::Mirror mirror;
  Announced announced;
  host::Transport transport{std::make_unique<ScriptedWire>(wire),
                            {{host::Transport::none, 1}, {1}},
                            std::vector<uint32_t>{0},
                            [](uint32_t) { return std::string("process 4711 on host b"); }};
};

struct WrongMessage {
  uint32_t connection;
  uint64_t number;
  size_t bytes;
};
class WrongMessages : public TransportTest, public testing::WithParamInterface<WrongMessage> {};

} // namespace

INSTANTIATE_TEST_SUITE_P(Each, WrongMessages,
                         testing::Values(WrongMessage{3, 0, 1}, WrongMessage{6, 0, 1}, WrongMessage{5, 1, 1},
                                         WrongMessage{5, 0, (32 << 10) + 1}));
TEST_P(WrongMessages, AreRejected) {
  transport.attach(mirror);
  arrive(FrameKind::Message, GetParam().connection, GetParam().number, std::string(GetParam().bytes, 'x'));
  EXPECT_EQ(violation(), protocolError("it sends a wrong message"));
}

TEST_F(TransportTest, SendsMessagesAndFreesTheirSlots) {
  transport.attach(mirror);
  enter(1);
  const std::string one(20000, '1'), two(30000, '2');
  send(one);
  send(two);
  EXPECT_FALSE(out().hasSlot());
  transport.progress();
  ASSERT_EQ(wire.sent.size(), 2u);
  WireHeader expected = header(FrameKind::Message, 3, 1);
  expected.token = token, expected.process = 0; // the test's address has the same token
  EXPECT_EQ(wire.sent[1], expected);
  EXPECT_EQ(wire.data, (std::vector<std::string>{one, two}));
  arrive(FrameKind::Credit, 3, 2);
  transport.progress();
  EXPECT_FALSE(out().hasSlot()) << "the wire still reads the slots";
  for (uint64_t *completed : wire.incomplete)
    ++*completed;
  transport.progress();
  EXPECT_TRUE(out().hasReceived(2));
  EXPECT_EQ(violation(), "");
}

TEST_F(TransportTest, ReceivesMessagesAndReturnsCredits) {
  transport.attach(mirror);
  enter(1);
  arrive(FrameKind::Message, 5, 0, std::string("one\0", 4));
  arrive(FrameKind::Message, 5, 1, std::string("two\0", 4));
  EXPECT_TRUE(transport.progress());
  EXPECT_EQ(receive(), "one");
  EXPECT_EQ(receive(), "two");
  transport.progress();
  ASSERT_EQ(wire.sent.size(), 1u);
  EXPECT_EQ(wire.sent[0].kind, FrameKind::Credit);
  EXPECT_EQ(wire.sent[0].place, 5u);
  EXPECT_EQ(wire.sent[0].number, 2u);
  EXPECT_EQ(violation(), "");
}

// A send is a system call.
TEST_F(TransportTest, SendsAnAnnouncementAndSmallMessagesTogether) {
  transport.attach(mirror);
  mirror.lastCall.store(1);
  send("one");
  send("two and");
  transport.announce(0, 1, {});
  transport.progress();
  EXPECT_EQ(wire.sends, 1u);
  ASSERT_EQ(wire.sent.size(), 3u);
  EXPECT_EQ(wire.sent[0].kind, FrameKind::Announcement);
  EXPECT_EQ(wire.sent[2].kind, FrameKind::Message);
  EXPECT_EQ(wire.sent[2].number, 1u);
  EXPECT_EQ(wire.data, (std::vector<std::string>{"", "one", "two and"}));
  EXPECT_TRUE(wire.incomplete.empty()) << "the messages were copied";
}

TEST_F(TransportTest, SendsALargeMessageAfterTheSmallOnesBeforeIt) {
  transport.attach(mirror);
  enter(1);
  send("one");
  send(std::string(20000, '2'));
  transport.progress();
  EXPECT_EQ(wire.sends, 2u);
  ASSERT_EQ(wire.sent.size(), 2u);
  EXPECT_EQ(wire.sent[0].number, 0u);
  EXPECT_EQ(wire.sent[1].number, 1u);
}

// The wire still reads the slot of the large message. So the count of complete messages cannot include a later one.
TEST_F(TransportTest, DoesNotCopyASmallMessageAfterAnIncompleteOne) {
  transport.attach(mirror);
  enter(1);
  send(std::string(20000, '1'));
  send("two");
  transport.progress();
  EXPECT_EQ(wire.incomplete.size(), 2u);
  arrive(FrameKind::Credit, 3, 2);
  transport.progress(), transport.progress();
  EXPECT_FALSE(out().hasReceived(1));
}

// A call has 5 messages, and a connection has 2 slots. So after 3 credits the sender can send all of them.
TEST_F(TransportTest, ReturnsNoCreditsForTheLastMessagesOfACall) {
  transport.attach(mirror);
  for (uint64_t number = 1; number <= 2; ++number) {
    enter(number);
    std::vector<uint64_t> credits;
    for (uint64_t i = 0; i < perCall; ++i) {
      WireHeader message = header(FrameKind::Message, 5, (number - 1) * perCall + i);
      message.callNumber = number;
      arrive(message, std::string("x\0", 2));
      transport.progress();
      EXPECT_EQ(receive(), "x");
      transport.progress();
    }
    for (const WireHeader &each : wire.sent)
      credits.push_back(each.number - (number - 1) * perCall);
    EXPECT_EQ(credits, (std::vector<uint64_t>{1, 2, 3}));
  }
  EXPECT_EQ(violation(), "");
}

TEST_F(TransportTest, FreesTheSlotsOfEarlierCallsWhenAllRanksHaveEnteredTheNext) {
  transport.attach(mirror);
  enter(1);
  for (uint64_t i = 0; i < perCall; ++i) {
    send("x");
    transport.progress();
    if (i < perCall - slots) {
      arrive(FrameKind::Credit, 3, i + 1);
      transport.progress(), transport.progress();
    }
  }
  EXPECT_FALSE(out().hasSlot());
  mirror.lastCall.store(2);
  transport.announce(0, 2, {});
  transport.progress();
  EXPECT_FALSE(out().hasSlot()) << "not all ranks have entered the call";
  mirror.begun.store(2);
  transport.progress();
  EXPECT_TRUE(out().hasReceived(perCall));
  EXPECT_EQ(violation(), "");
}

TEST_F(TransportTest, AnnouncesToTheRest) {
  transport.announceToRest(0, 1, {});
  transport.progress();
  EXPECT_EQ(wire.sends, 0u) << "the only other process is a listener";
}

TEST_F(TransportTest, OpensBatches) {
  std::string batch;
  addToBatch(batch, FrameKind::Announcement, "ok");
  addToBatch(batch, FrameKind::Bye, "");
  arrive(FrameKind::Batch, 0, 0, batch);
  EXPECT_EQ(violation(), "");
  EXPECT_EQ(announced.all, (std::vector<std::pair<uint32_t, uint64_t>>{{1, 1}}));
  arrive(FrameKind::Announcement, 1, 2, "ok");
  EXPECT_EQ(violation(), protocolError("it sends out of order")) << "the batch had the last header";
}

TEST_F(TransportTest, RejectsWrongBatches) {
  std::string batch;
  addToBatch(batch, FrameKind::Announcement, "ok");
  batch.pop_back();
  arrive(FrameKind::Batch, 0, 0, batch);
  EXPECT_EQ(violation(), protocolError("it sends a wrong batch"));
}

TEST_F(TransportTest, RejectsABatchInABatch) {
  std::string batch;
  addToBatch(batch, FrameKind::Batch, "");
  arrive(FrameKind::Batch, 0, 0, batch);
  EXPECT_EQ(violation(), protocolError("it sends a wrong batch"));
}

TEST_F(TransportTest, KeepsMessagesOfCallsThatAreNotPrepared) {
  transport.announce(0, 1, {});
  arrive(FrameKind::Message, 5, 0, std::string("one\0", 4));
  transport.progress();
  transport.attach(mirror);
  EXPECT_EQ(receive(), "one");
  EXPECT_EQ(violation(), "");
}

TEST_F(TransportTest, DropsMessagesOfDroppedCalls) {
  transport.attach(mirror);
  transport.detach(mirror);
  arrive(FrameKind::Message, 5, 0, "one");
  arrive(FrameKind::Credit, 3, 1);
  EXPECT_EQ(violation(), "");
}

/// Another process of the host may have discarded the memory of a call that this process has left.
TEST_F(TransportTest, LeavesTheMemoryOfEarlierCallsAlone) {
  transport.attach(mirror);
  enter(1);
  transport.announce(0, 2, {}); // the rank has not entered the prepared call
  send("one");
  arrive(FrameKind::Message, 5, 0, std::string("one\0", 4));
  transport.progress();
  EXPECT_EQ(receive(), "nothing");
  ASSERT_EQ(wire.sent.size(), 1u);
  EXPECT_EQ(wire.sent[0].kind, FrameKind::Announcement);
  EXPECT_EQ(violation(), "");
}

TEST_F(TransportTest, IgnoresStrangers) {
  transport.attach(mirror);
  WireHeader wrong = header(FrameKind::Message, 5, 0);
  wrong.token ^= 1;
  arrive(wrong, "stranger");
  wire.arriving.push_back({{}, {}});
  wire.arriving.push_back({std::vector<std::byte>(sizeof(host::HeaderImage)), {}});
  EXPECT_EQ(violation(), "");
  EXPECT_EQ(receive(), "nothing");
}

TEST_F(TransportTest, PassesAnnouncements) {
  arrive(FrameKind::Announcement, 1, 7, "ok");
  EXPECT_EQ(violation(), "");
  EXPECT_EQ(announced.all, (std::vector<std::pair<uint32_t, uint64_t>>{{1, 7}}));
}

TEST_F(TransportTest, RejectsWrongAnnouncements) {
  arrive(FrameKind::Announcement, 1, 7, "not ok");
  EXPECT_EQ(violation(), protocolError("it sends a wrong announcement"));
}

TEST_F(TransportTest, RejectsAnnouncementsOfOthersRanks) {
  arrive(FrameKind::Announcement, 0, 1, "ok");
  EXPECT_EQ(violation(), protocolError("it sends a wrong announcement"));
}

TEST_F(TransportTest, RejectsAProcessOfThisHost) {
  WireHeader wrong = header(FrameKind::Credit, 3, 1);
  wrong.process = 0;
  arrive(wrong);
  EXPECT_EQ(violation(), "rank 0 (process 4711 on host b) does not follow gc3's protocol between hosts: it is on this "
                         "host, and sends over the network");
}

TEST_F(TransportTest, RejectsASecondHello) {
  arrive(FrameKind::Hello);
  EXPECT_EQ(violation(), protocolError("it sends out of order"));
}

TEST_F(TransportTest, RejectsWhatFollowsTheLastMessage) {
  arrive(FrameKind::Bye);
  arrive(FrameKind::Announcement, 1, 1, "ok");
  EXPECT_EQ(violation(), protocolError("it sends out of order"));
}

TEST_F(TransportTest, RejectsMessagesWithoutFreeSlots) {
  transport.attach(mirror);
  for (uint64_t number = 0; number <= slots; ++number)
    arrive(FrameKind::Message, 5, number, "x");
  EXPECT_EQ(violation(), protocolError("it sends a message without a free slot"));
}

TEST_F(TransportTest, RejectsWrongCredits) {
  transport.attach(mirror);
  arrive(FrameKind::Credit, 3, 1); // for a message that was not sent
  EXPECT_EQ(violation(), protocolError("it sends a wrong credit"));
}

TEST_F(TransportTest, DrainSendsTheMessagesOfTheCaller) {
  transport.attach(mirror);
  enter(1);
  send("one");
  EXPECT_TRUE(transport.drain(std::chrono::seconds(60)).ok());
  EXPECT_EQ(wire.sent.size(), 1u);
}

TEST_F(TransportTest, DrainEndsAtItsTimeLimit) {
  transport.announce(0, 1, {});
  wire.isStuck = true;
  const core::Outcome outcome = transport.drain(std::chrono::milliseconds(5));
  EXPECT_EQ(outcome.code, gc3Timeout);
  EXPECT_EQ(outcome.text, "after 5 ms, a process of another host still does not receive what this process has sent");
}

// The wire may still read what it has not sent, so no later call may run.
TEST_F(TransportTest, DrainReturnsAViolation) {
  transport.announce(0, 1, {});
  wire.isStuck = true;
  transport.attach(mirror);
  arrive(FrameKind::Credit, 3, 1); // for a message that was not sent
  const core::Outcome outcome = transport.drain(std::chrono::seconds(60));
  EXPECT_EQ(outcome.code, gc3RemoteError);
  EXPECT_EQ(outcome.text, protocolError("it sends a wrong credit"));
}

TEST(RemoteAnnouncement, IsTheSameAfterItsBytes) {
  api::Announcement from{}, to{};
  float buffer = 0;
  from.call = 0, from.choice = 3, from.send = &buffer, from.recv = &buffer + 1;
  from.timed = {6, 7.5f, true, false};
  core::Request request{core::CallKind::Collective, "all", nullptr, nullptr, 9, gc3Float32, gc3Max, 2};
  from.request.write(request);
  const std::vector<std::byte> bytes = api::writeAnnouncement(from);
  ASSERT_TRUE(api::readAnnouncement(bytes, to));
  EXPECT_EQ(api::writeAnnouncement(to), bytes);
  EXPECT_EQ(to.request.read().name, "all");
  EXPECT_EQ(to.request.read().count, 9u);
  EXPECT_EQ(to.timed, from.timed);
}

TEST(RemoteAnnouncement, WrongBytesAreRejected) {
  api::Announcement from{}, to{};
  from.call = 1;
  std::vector<std::byte> bytes = api::writeAnnouncement(from);
  bytes.resize(bytes.size() + api::RequestRecord::mostNameBytes + 1);
  EXPECT_FALSE(api::readAnnouncement(bytes, to));
  bytes.resize(10);
  EXPECT_FALSE(api::readAnnouncement(bytes, to));
}

namespace {

/// Appends a frame for checkTransport(), which fills in the token.
void addFrame(std::vector<uint8_t> &frames, WireHeader header, const std::vector<std::byte> &data) {
  header.process = 1;
  const host::HeaderImage image = host::writeHeader(header);
  const auto *const bytes = reinterpret_cast<const uint8_t *>(&image);
  frames.push_back(static_cast<uint8_t>(sizeof image + data.size()));
  frames.insert(frames.end(), bytes, bytes + sizeof image);
  for (const std::byte each : data)
    frames.push_back(static_cast<uint8_t>(each));
}

} // namespace

TEST(Transport, ChangedBytesAreRejectedOrInRange) {
  api::Announcement announcement{};
  announcement.request.write({core::CallKind::Collective, "all", nullptr, nullptr, 9, gc3Float32, gc3Max, 2});
  std::vector<uint8_t> sample;
  addFrame(sample, {.kind = FrameKind::Hello}, {});
  addFrame(sample, {.kind = FrameKind::Announcement, .place = 1, .number = 1}, api::writeAnnouncement(announcement));
  for (uint64_t number = 0; number < 4; ++number) {
    addFrame(sample, {.kind = FrameKind::Message, .place = 1, .call = 1, .callNumber = 9, .number = number},
             std::vector<std::byte>(10));
    addFrame(sample, {.kind = FrameKind::Credit, .call = 1, .number = number + 1}, {});
  }
  uint32_t accepted = 0;
  EXPECT_EQ(test::checkTransport(sample, accepted), "");
  EXPECT_EQ(accepted, 5u);
  std::mt19937 random(7);
  for (int i = 0; i < 5000; ++i) {
    std::vector<uint8_t> changed = sample;
    for (auto changes = 1 + random() % 3; changes > 0; --changes)
      changed[random() % changed.size()] = static_cast<uint8_t>(random() % 4);
    if (random() % 4 == 0)
      changed.resize(1 + random() % changed.size());
    ASSERT_EQ(test::checkTransport(changed, accepted), "");
  }
}
