// SPDX-License-Identifier: Apache-2.0
#include "net/Greeting.h"

#include <cstring>

namespace gc3::net {

namespace {

constexpr uint64_t greetingMagic = 0x74'65'65'72'67'33'63'67; // "gc3greet" in little-endian order

struct GreetingImage {
  uint64_t magic;
  uint32_t version, kind, reason, rank, ranks, unused;
  uint64_t tag;
  Nonce nonce;
  Proof proof;
};
static_assert(sizeof(GreetingImage) == greetingBytes, "no padding");

bool isSound(const GreetingImage &image) {
  const auto kind = static_cast<Greeting::Kind>(image.kind);
  const auto reason = static_cast<Greeting::Reason>(image.reason);
  return kind >= Greeting::Kind::Hello && kind <= Greeting::Kind::Refusal && reason <= Greeting::Reason::RankIsTaken &&
         (kind == Greeting::Kind::Refusal) == (image.reason != 0) && image.unused == 0;
}

} // namespace

GreetingBytes writeGreeting(const Greeting &greeting) {
  const GreetingImage image{greetingMagic,
                            greeting.version,
                            static_cast<uint32_t>(greeting.kind),
                            static_cast<uint32_t>(greeting.reason),
                            greeting.rank,
                            greeting.ranks,
                            0,
                            greeting.tag,
                            greeting.nonce,
                            greeting.proof};
  GreetingBytes bytes{};
  std::memcpy(bytes.data(), &image, sizeof image);
  return bytes;
}

std::optional<Greeting> readGreeting(const GreetingBytes &bytes) {
  GreetingImage image{};
  std::memcpy(&image, bytes.data(), sizeof image);
  if (image.magic != greetingMagic || (image.version == Greeting::currentVersion && !isSound(image)))
    return std::nullopt;
  return Greeting{image.version,
                  static_cast<Greeting::Kind>(image.kind),
                  static_cast<Greeting::Reason>(image.reason),
                  image.rank,
                  image.ranks,
                  image.tag,
                  image.nonce,
                  image.proof};
}

std::string describeDifference(Greeting::Reason reason, const Greeting &other, const Greeting &own) {
  switch (reason) {
  case Greeting::Reason::OtherVersion:
    return "has another version of gc3 (protocol " + std::to_string(other.version) + ", here " +
           std::to_string(own.version) + ")";
  case Greeting::Reason::OtherRanks:
    return "expects " + std::to_string(other.ranks) + " ranks, not " + std::to_string(own.ranks);
  case Greeting::Reason::OtherSecret: return "has another GC3_SECRET";
  case Greeting::Reason::RankIsTaken: return "has a connection from another process that is the same rank";
  case Greeting::Reason::None: break;
  }
  return "refuses the connection";
}

} // namespace gc3::net
