// SPDX-License-Identifier: Apache-2.0
// The bytes of unique ids, identities and messages. Bytes that are damaged are refused.
#include "Members.h"

#include "job/Message.h"

#include <cstring>

using namespace gc3;
using namespace gc3::job;

namespace {

net::Endpoint sampleEndpoint() {
  net::Endpoint endpoint;
  endpoint.port = 4711;
  endpoint.addressCount = 1;
  endpoint.host = 7;
  endpoint.token = {1, 2};
  endpoint.addresses[0] = {0x20, 1};
  return endpoint;
}

TEST(UniqueId, WhatIsWrittenIsRead) {
  const net::Endpoint endpoint = sampleEndpoint();
  const core::Result<net::Endpoint> read = readUniqueId(writeUniqueId(endpoint));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(std::memcmp(&*read, &endpoint, sizeof endpoint), 0);
}

TEST(UniqueId, EachDamagedByteIsFound) {
  const UniqueId good = writeUniqueId(sampleEndpoint());
  for (size_t place = 0; place < good.size(); ++place) {
    UniqueId changed = good;
    changed[place] ^= 0x10;
    const core::Outcome outcome = readUniqueId(changed).outcome();
    EXPECT_EQ(outcome.code, gc3InvalidArgument);
    EXPECT_EQ(outcome.text, place < 8    ? "the bytes are no unique id; gc3GetUniqueId makes one on rank 0"
                            : place < 12 ? outcome.text
                                         : "the unique id is damaged; all of its 256 bytes must reach the other ranks");
  }
  UniqueId other = good;
  other[8] = 2;
  EXPECT_EQ(readUniqueId(other).outcome().text, "the unique id is of another version of gc3 (format 2, here 1)");
  EXPECT_EQ(readUniqueId(UniqueId{}).outcome().text, "the bytes are no unique id; gc3GetUniqueId makes one on rank 0");
}

TEST(UniqueId, ValuesOutOfRangeAreDamage) {
  net::Endpoint noPort = sampleEndpoint(), highPort = noPort, manyAddresses = noPort;
  noPort.port = 0;
  highPort.port = 65536;
  manyAddresses.addressCount = net::Endpoint::mostAddresses + 1;
  for (const net::Endpoint &each : {noPort, highPort, manyAddresses})
    EXPECT_FALSE(readUniqueId(writeUniqueId(each)).ok());
}

TEST(Identity, WhatIsWrittenIsRead) {
  const Identity identity{0x0123456789abcdef, 4711, "a.example"};
  EXPECT_EQ(readIdentity(writeIdentity(identity)), identity);
  EXPECT_EQ(describe(identity), "process 4711 on host a.example");
  EXPECT_EQ(readIdentity(writeIdentity({1, 2, std::string(1000, 'x')}))->hostName, std::string(255, 'x'));
}

TEST(Identity, DamagedBytesAreRefused) {
  std::vector<uint8_t> bytes = writeIdentity({1, 2, "a"});
  EXPECT_FALSE(readIdentity(net::Bytes(bytes).first(15)));
  bytes.resize(16 + 256);
  EXPECT_FALSE(readIdentity(bytes));
  bytes = writeIdentity({1, 2, "a"});
  bytes[0] ^= 1;
  EXPECT_FALSE(readIdentity(bytes));
}

TEST(Identity, ItIsThatOfTheProcess) {
  const Identity own = identifyThisProcess();
  EXPECT_EQ(own.process, static_cast<uint32_t>(getpid()));
  EXPECT_NE(own.host, 0U);
  EXPECT_FALSE(own.hostName.empty());
  EXPECT_TRUE(shareHost(own, identifyThisProcess()));
  EXPECT_FALSE(shareHost({0, 1, "a"}, {0, 2, "a"})) << "unknown hosts";
}

HeaderBytes headerOf(const Message &message) {
  HeaderBytes header{};
  std::memcpy(header.data(), writeMessage(message).data(), header.size());
  return header;
}

TEST(Message, WhatIsWrittenIsRead) {
  for (const Message &message :
       {Message{Message::Kind::Data, 3, 9, {1, 2}}, Message{Message::Kind::Gathered, 0, 9, std::vector<uint8_t>(5000)},
        Message{Message::Kind::Question, 3, 9, {}}, Message{Message::Kind::Answer, 3, 9, {7}},
        Message{Message::Kind::Left, 3, 0, {}}, Message{Message::Kind::Ended, 3, 0, {7}},
        Message{Message::Kind::Failed, 3, 0, {7}}}) {
    const std::optional<Announcement> read = readHeader(headerOf(message), 4);
    ASSERT_TRUE(read);
    Message whole = read->message;
    const std::vector<uint8_t> bytes = writeMessage(message);
    ASSERT_EQ(bytes.size(), headerBytes + read->bytes);
    whole.bytes.assign(bytes.begin() + headerBytes, bytes.end());
    EXPECT_EQ(whole, message);
  }
}

TEST(Message, DamagedHeadersAreRefused) {
  const HeaderBytes good = headerOf({Message::Kind::Failed, 3, 0, {7}});
  EXPECT_FALSE(readHeader(good, 3)) << "there is no rank 3";
  for (const auto &[place, value] :
       {std::pair<size_t, uint8_t>{0, 0}, {4, 0}, {4, 8}, {5, 1}, {12, 1}, {25, 0x11}, {30, 1}}) {
    HeaderBytes changed = good;
    changed[place] = value;
    EXPECT_FALSE(readHeader(changed, 4)) << place;
  }
}

TEST(Message, LimitsOfKinds) {
  const auto sizeOf = [](Message::Kind kind, size_t bytes) {
    return writeMessage({kind, 0, 0, std::vector<uint8_t>(bytes)}).size() - headerBytes;
  };
  EXPECT_EQ(sizeOf(Message::Kind::Data, mostDataBytes + 1), mostDataBytes);
  EXPECT_EQ(sizeOf(Message::Kind::Failed, mostTextBytes + 1), mostTextBytes);
  EXPECT_EQ(sizeOf(Message::Kind::Left, 1), 0U);
  HeaderBytes header = headerOf({Message::Kind::Data, 0, 0, std::vector<uint8_t>(mostDataBytes)});
  EXPECT_TRUE(readHeader(header, 1));
  ++header[24];
  EXPECT_FALSE(readHeader(header, 1));
}

TEST(Message, GatheredBytes) {
  const std::vector<std::vector<uint8_t>> gathered = {{1, 2}, {}, {3}};
  const std::vector<uint8_t> bytes = writeGathered(gathered);
  EXPECT_EQ(readGathered(bytes, 3), gathered);
  EXPECT_FALSE(readGathered(bytes, 2));
  EXPECT_FALSE(readGathered(bytes, 4));
  EXPECT_FALSE(readGathered(net::Bytes(bytes).first(bytes.size() - 1), 3));
  EXPECT_FALSE(readGathered(net::Bytes(bytes).first(3), 3));
  std::vector<uint8_t> changed = bytes;
  changed[3] = 1;
  EXPECT_FALSE(readGathered(changed, 3)) << "a size above all limits";
}

TEST(Message, TextsHaveNoControlCharacters) {
  EXPECT_EQ(textOf(bytesOf("a\n\x1b[31mb\x7f\xc3\xa4")), "a\n?[31mb?\xc3\xa4");
}

} // namespace
