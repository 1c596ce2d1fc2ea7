// SPDX-License-Identifier: Apache-2.0
// The bytes of greetings, and the proofs in them.
#include "net/Greeting.h"

#include <gtest/gtest.h>

#include <functional>

using namespace gc3::net;

namespace {

constexpr size_t kindOffset = 12, reasonOffset = 16, unusedOffset = 28;

Greeting sample(Greeting::Kind kind) {
  Greeting greeting;
  greeting.kind = kind;
  greeting.reason = kind == Greeting::Kind::Refusal ? Greeting::Reason::OtherSecret : Greeting::Reason::None;
  greeting.rank = 3;
  greeting.ranks = 8;
  greeting.tag = 0x0123456789abcdef;
  greeting.nonce = {1, 2, 3};
  greeting.proof = {4, 5, 6};
  return greeting;
}

TEST(Greeting, WhatIsWrittenIsRead) {
  for (auto kind :
       {Greeting::Kind::Hello, Greeting::Kind::Acknowledgement, Greeting::Kind::Confirmation, Greeting::Kind::Refusal})
    EXPECT_EQ(readGreeting(writeGreeting(sample(kind))), sample(kind));
}

TEST(Greeting, WrongBytesAreNoGreeting) {
  const GreetingBytes good = writeGreeting(sample(Greeting::Kind::Hello));
  for (size_t place : {size_t{0}, size_t{7}, kindOffset, kindOffset + 3, reasonOffset, unusedOffset}) {
    GreetingBytes changed = good;
    changed[place] ^= 0x80;
    EXPECT_FALSE(readGreeting(changed)) << place;
  }
}

TEST(Greeting, OtherVersionsKeepTheirTag) {
  Greeting other = sample(Greeting::Kind::Hello);
  ++other.version;
  GreetingBytes bytes = writeGreeting(other);
  bytes[kindOffset] = 77;
  const std::optional<Greeting> read = readGreeting(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(std::tie(read->version, read->tag), std::tie(other.version, other.tag));
  EXPECT_EQ(describeDifference(Greeting::Reason::OtherVersion, *read, sample(Greeting::Kind::Hello)),
            "has another version of gc3 (protocol 3, here 2)");
}

TEST(Proof, ItStatesEverything) {
  const Key key({1, 2}, "a secret");
  const Key::Statement statement{Key::Side::Other, 3, 8, {1}, {2}};
  const Proof proof = key.prove(statement);
  EXPECT_TRUE(key.isProven(statement, proof));
  const std::function<void(Key::Statement &)> changes[] = {
      [](auto &each) { each.side = Key::Side::Rank0; }, [](auto &each) { ++each.rank; },
      [](auto &each) { ++each.ranks; }, [](auto &each) { ++each.ofOther[15]; }, [](auto &each) { ++each.ofRank0[15]; }};
  for (const auto &change : changes) {
    Key::Statement other = statement;
    change(other);
    EXPECT_FALSE(key.isProven(other, proof));
  }
  EXPECT_FALSE(Key({1, 3}, "a secret").isProven(statement, proof));
  EXPECT_FALSE(Key({1, 2}, "b secret").isProven(statement, proof));
  EXPECT_FALSE(Key({1, 2}, "").isProven(statement, proof));
}

TEST(Proof, TheTagDependsOnlyOnTheToken) {
  EXPECT_EQ(Key({1, 2}, "a").tag(), Key({1, 2}, "b").tag());
  EXPECT_NE(Key({1, 2}, "a").tag(), Key({1, 3}, "a").tag());
  EXPECT_EQ(tokenOf("job 7"), tokenOf("job 7"));
  EXPECT_NE(tokenOf("job 7"), tokenOf("job 8"));
  EXPECT_NE(makeNonce(), makeNonce());
}

/// Python's hmac has computed the bytes. All ranks must compute the same ones, also with other builds of gc3.
TEST(Proof, ItsBytesDoNotChange) {
  const Proof proof = Key({1, 2}, "a secret").prove({Key::Side::Rank0, 1, 2, {3}, {4}});
  EXPECT_EQ(std::vector<int>(proof.begin(), proof.begin() + 4), (std::vector<int>{182, 97, 103, 201}));
}

} // namespace
