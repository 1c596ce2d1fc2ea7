// SPDX-License-Identifier: Apache-2.0
#include "net/Frame.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gc3::net {

namespace {

using select::Exchange;
using select::Message;

constexpr uint32_t frameMagic = 0x31'66'63'67; // "gcf1" in little-endian order

struct Header {
  uint32_t magic;
  uint16_t kind;  ///< index of the content's type
  uint16_t bytes; ///< of the content, which follows
  uint64_t exchange;
};
static_assert(sizeof(Header) == 16);

/// A result without its error text, which follows.
struct ResultImage {
  uint64_t call;
  uint32_t lag, count;
  std::array<float, Message::mostTimes> samples;
  std::array<uint8_t, Message::mostTimes> flags;
};
static_assert(sizeof(ResultImage) == 96 && sizeof(Message) == 112, "no padding");
static_assert(sizeof(Question) == 8 && sizeof(Answer) == 24, "no padding");
static_assert(sizeof(Header) + sizeof(ResultImage) + mostTextBytes <= mostFrameBytes);

/// The content of a frame, after room for the header.
class Writer {
public:
  void append(const Message &message) { append(&message, sizeof message); }
  void append(const Question &question) { append(&question, sizeof question); }
  void append(const Answer &answer) { append(&answer, sizeof answer); }
  void append(const Exchange &result) {
    const ResultImage image{result.call, result.lag, result.count, result.samples, result.flags};
    append(&image, sizeof image);
    append(result.error);
  }
  void append(const Failure &failure) { append(failure.text); }
  void append(const Verdict &verdict) { append(verdict.difference); }
  void append(const Hurry &) {}
  void append(const Compare &) {}

  std::vector<uint8_t> finish(size_t kind, uint64_t exchange) {
    const Header header{frameMagic, static_cast<uint16_t>(kind), static_cast<uint16_t>(used - sizeof(Header)),
                        exchange};
    std::memcpy(bytes.data(), &header, sizeof header);
    bytes.resize(used);
    return std::move(bytes);
  }

private:
  void append(const void *from, size_t size) {
    std::memcpy(bytes.data() + used, from, size);
    used += size;
  }
  void append(const std::string &text) { append(text.data(), std::min(text.size(), mostTextBytes)); }

  std::vector<uint8_t> bytes = std::vector<uint8_t>(mostFrameBytes);
  size_t used = sizeof(Header);
};

/// Copies an image from the begin of the bytes. Returns false if there are too few.
template <typename Image>
bool extract(Bytes &bytes, Image &image) {
  if (bytes.size() < sizeof(Image))
    return false;
  std::memcpy(&image, bytes.data(), sizeof(Image));
  bytes = bytes.subspan(sizeof(Image));
  return true;
}

bool readText(Bytes bytes, std::string &text) {
  text.assign(bytes.begin(), bytes.end());
  return bytes.size() <= mostTextBytes;
}

bool readContent(Bytes bytes, Message &message) {
  return extract(bytes, message) && bytes.empty() && message.count <= Message::mostTimes;
}

bool readContent(Bytes bytes, Exchange &result) {
  ResultImage image{};
  if (!extract(bytes, image) || image.count > Message::mostTimes)
    return false;
  result = {image.call, image.lag, image.count, image.samples, image.flags, {}};
  return readText(bytes, result.error);
}

bool readContent(Bytes bytes, Failure &failure) {
  return !bytes.empty() && readText(bytes, failure.text);
}

bool readContent(Bytes bytes, Hurry &) {
  return bytes.empty();
}

bool readContent(Bytes bytes, Compare &) {
  return bytes.empty();
}

bool readContent(Bytes bytes, Question &question) {
  return extract(bytes, question) && bytes.empty();
}

bool readContent(Bytes bytes, Answer &answer) {
  return extract(bytes, answer) && bytes.empty();
}

bool readContent(Bytes bytes, Verdict &verdict) {
  return readText(bytes, verdict.difference);
}

/// Makes the content of the given type. Returns false if there is no such type.
bool setKind(size_t kind, Frame &frame) {
  switch (kind) {
  case 0: frame.content = Message{}; return true;
  case 1: frame.content = Exchange{}; return true;
  case 2: frame.content = Failure{}; return true;
  case 3: frame.content = Hurry{}; return true;
  case 4: frame.content = Compare{}; return true;
  case 5: frame.content = Question{}; return true;
  case 6: frame.content = Answer{}; return true;
  case 7: frame.content = Verdict{}; return true;
  }
  return false;
}

} // namespace

std::vector<uint8_t> writeFrame(const Frame &frame) {
  Writer writer;
  std::visit([&](const auto &content) { writer.append(content); }, frame.content);
  return writer.finish(frame.content.index(), frame.exchange);
}

ReadFrame readFrame(Bytes bytes) {
  ReadFrame read;
  Header header{};
  Bytes rest = bytes;
  if (!extract(rest, header))
    return read;
  read.state = ReadFrame::State::Damaged;
  if (header.magic != frameMagic || sizeof header + header.bytes > mostFrameBytes || !setKind(header.kind, read.frame))
    return read;
  if (rest.size() < header.bytes) {
    read.state = ReadFrame::State::Partial;
    return read;
  }
  const Bytes content = rest.first(header.bytes);
  read.frame.exchange = header.exchange;
  if (!std::visit([&](auto &each) { return readContent(content, each); }, read.frame.content))
    return read;
  read.bytes = sizeof header + header.bytes;
  read.state = ReadFrame::State::Whole;
  return read;
}

} // namespace gc3::net
