// SPDX-License-Identifier: Apache-2.0
#include "CheckFrames.h"
#include <algorithm>

namespace gc3::test {

namespace {

using namespace net;

std::string checkGreeting(Bytes bytes) {
  GreetingBytes first{};
  if (bytes.size() < first.size())
    return {};
  std::copy_n(bytes.begin(), first.size(), first.begin());
  const std::optional<Greeting> greeting = readGreeting(first);
  if (!greeting || greeting->version != Greeting::currentVersion)
    return {};
  return writeGreeting(*greeting) == first ? "" : "a greeting changes when it is read";
}

bool isInRange(const select::Message &message) {
  return message.count <= select::Message::mostTimes;
}
bool isInRange(const select::Exchange &result) {
  return result.count <= select::Message::mostTimes && result.error.size() <= mostTextBytes;
}
bool isInRange(const Failure &failure) {
  return !failure.text.empty() && failure.text.size() <= mostTextBytes;
}
bool isInRange(const Verdict &verdict) {
  return verdict.difference.size() <= mostTextBytes;
}
template <typename Content>
bool isInRange(const Content &) {
  return true;
}

} // namespace

std::string checkFrames(Bytes bytes, uint32_t &accepted) {
  if (std::string problem = checkGreeting(bytes); !problem.empty())
    return problem;
  for (;;) {
    const ReadFrame read = readFrame(bytes);
    if (read.state == ReadFrame::State::Partial)
      return bytes.size() < mostFrameBytes ? "" : "a frame has no end";
    if (read.state == ReadFrame::State::Damaged)
      return {};
    if (read.bytes == 0 || read.bytes > std::min(bytes.size(), mostFrameBytes))
      return "the size of a frame is out of range";
    if (!std::visit([](const auto &each) { return isInRange(each); }, read.frame.content))
      return "the content of a frame is out of range";
    if (!std::ranges::equal(writeFrame(read.frame), bytes.first(read.bytes)))
      return "a frame changes when it is read";
    ++accepted;
    bytes = bytes.subspan(read.bytes);
  }
}

} // namespace gc3::test
