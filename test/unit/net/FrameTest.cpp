// SPDX-License-Identifier: Apache-2.0
// The bytes of frames.
#include "CheckFrames.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

using namespace gc3;
using namespace gc3::net;
using select::Exchange;
using select::Message;
using State = ReadFrame::State;

namespace {

constexpr size_t headerBytes = 16, kindPlace = 4, sizePlace = 6, countPlace = headerBytes + 28;

const Message sampleMessage{112, 7, 9, 3, 2, {5, 6}, {1, 0x80}};
const Exchange sampleResult{112, 40, 2, {5, select::noTime}, {1, 0x80}, "rank 1 differs"};

/// Frames of each kind.
std::vector<Frame> makeFrames() {
  return {{0, sampleMessage},
          {7, sampleMessage},
          {8, sampleResult},
          {9, Exchange{0, 0, 0, {}, {}, ""}},
          {10, Failure{"rank 2 has left"}},
          {11, Hurry{}},
          {0, Compare{}},
          {0, Question{40}},
          {0, Answer{40, 43, 9}},
          {0, Verdict{"rank 1 differs"}},
          {0, Verdict{}}};
}

State stateOf(const std::vector<uint8_t> &bytes) {
  return readFrame(bytes).state;
}

TEST(Frame, WhatIsWrittenIsRead) {
  const ReadFrame first = readFrame(writeFrame({7, sampleMessage})), second = readFrame(writeFrame({8, sampleResult})),
                  third = readFrame(writeFrame({9, Failure{"rank 2 has left"}})),
                  fourth = readFrame(writeFrame({0, Answer{40, 43, 9}})),
                  fifth = readFrame(writeFrame({0, Question{40}})),
                  sixth = readFrame(writeFrame({0, Verdict{"rank 1 differs"}}));
  ASSERT_TRUE(first.state == State::Whole && second.state == State::Whole && third.state == State::Whole);
  EXPECT_EQ(first.bytes, headerBytes + 112);
  EXPECT_EQ(first.frame.exchange, 7U);
  EXPECT_EQ(std::memcmp(&std::get<Message>(first.frame.content), &sampleMessage, sizeof sampleMessage), 0);
  const auto &read = std::get<Exchange>(second.frame.content);
  EXPECT_EQ(second.frame.exchange, 8U);
  EXPECT_EQ(std::memcmp(read.samples.data(), sampleResult.samples.data(), sizeof sampleResult.samples), 0);
  EXPECT_EQ(std::tie(read.call, read.lag, read.count, read.flags, read.error),
            std::tie(sampleResult.call, sampleResult.lag, sampleResult.count, sampleResult.flags, sampleResult.error));
  EXPECT_EQ(std::get<Failure>(third.frame.content).text, "rank 2 has left");
  const auto &answer = std::get<Answer>(fourth.frame.content);
  EXPECT_EQ(std::tie(answer.asked, answer.calls, answer.choices), std::tuple(40U, 43U, 9U));
  EXPECT_EQ(std::get<Question>(fifth.frame.content).asked, 40U);
  EXPECT_EQ(std::get<Verdict>(sixth.frame.content).difference, "rank 1 differs");
}

TEST(Frame, LongTextsAreCut) {
  const std::string text(5000, 'x');
  for (const Frame &frame :
       {Frame{1, Exchange{0, 0, 0, {}, {}, text}}, Frame{1, Failure{text}}, Frame{1, Verdict{text}}}) {
    const std::vector<uint8_t> bytes = writeFrame(frame);
    EXPECT_LE(bytes.size(), mostFrameBytes);
    EXPECT_EQ(stateOf(bytes), State::Whole);
  }
  const ReadFrame read = readFrame(writeFrame({1, Failure{text}}));
  EXPECT_EQ(std::get<Failure>(read.frame.content).text, text.substr(0, mostTextBytes));
}

TEST(Frame, ABeginIsPartial) {
  for (const Frame &frame : makeFrames()) {
    std::vector<uint8_t> bytes = writeFrame(frame);
    for (bytes.pop_back(); !bytes.empty(); bytes.pop_back())
      ASSERT_EQ(stateOf(bytes), State::Partial) << bytes.size();
  }
}

TEST(Frame, DamageIsFound) {
  auto change = [](std::vector<uint8_t> bytes, size_t place, uint8_t value) {
    bytes[place] = value;
    bytes.resize(2000); // it is not partial
    return bytes;
  };
  const std::vector<uint8_t> sent = writeFrame({0, sampleMessage}), received = writeFrame({0, sampleResult}),
                             failed = writeFrame({0, Failure{"lost"}});
  EXPECT_EQ(stateOf(change(sent, 0, 'g')), State::Whole);
  EXPECT_EQ(stateOf(change(sent, 0, 'G')), State::Damaged);
  EXPECT_EQ(stateOf(change(sent, kindPlace, 3)), State::Damaged);
  EXPECT_EQ(stateOf(change(sent, sizePlace, 111)), State::Damaged);
  EXPECT_EQ(stateOf(change(sent, sizePlace, 113)), State::Damaged);
  EXPECT_EQ(stateOf(change(sent, sizePlace + 1, 4)), State::Damaged); // larger than every frame
  EXPECT_EQ(stateOf(change(sent, countPlace, 17)), State::Damaged);
  EXPECT_EQ(stateOf(change(received, headerBytes + 12, 17)), State::Damaged); // count
  EXPECT_EQ(stateOf(change(received, sizePlace, 95)), State::Damaged);
  EXPECT_EQ(stateOf(change(received, sizePlace + 1, 3)), State::Damaged); // a text that is too long
  EXPECT_EQ(stateOf(change(failed, sizePlace, 0)), State::Damaged);
  const std::vector<uint8_t> asked = writeFrame({0, Question{}}), answered = writeFrame({0, Answer{}}),
                             compared = writeFrame({0, Compare{}}), decided = writeFrame({0, Verdict{}});
  EXPECT_EQ(stateOf(change(asked, sizePlace, 7)), State::Damaged);
  EXPECT_EQ(stateOf(change(asked, sizePlace, 9)), State::Damaged);
  EXPECT_EQ(stateOf(change(answered, sizePlace, 23)), State::Damaged);
  EXPECT_EQ(stateOf(change(answered, sizePlace, 25)), State::Damaged);
  EXPECT_EQ(stateOf(change(compared, sizePlace, 1)), State::Damaged);
  EXPECT_EQ(stateOf(change(decided, sizePlace + 1, 3)), State::Damaged);
  EXPECT_EQ(stateOf(change(decided, kindPlace, 8)), State::Damaged);
}

TEST(Frame, ChangedBytesAreDamagedOrInRange) {
  std::mt19937 random(7);
  std::vector<uint8_t> all;
  for (const Frame &frame : makeFrames()) {
    const std::vector<uint8_t> bytes = writeFrame(frame);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  uint32_t accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::vector<uint8_t> bytes = all;
    for (auto changes = random() % 3; changes-- > 0;)
      bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    bytes.resize(random() % 2 == 0 ? bytes.size() : random() % bytes.size());
    ASSERT_EQ(test::checkFrames(bytes, accepted), "") << i;
  }
  EXPECT_GT(accepted, 20000U);
}

} // namespace
