// SPDX-License-Identifier: Apache-2.0
#include "net/Hub.h"

namespace gc3::net {

bool Hub::add(uint32_t rank, uint64_t exchange, const select::Message &message) {
  if (exchange != received[rank] || exchange - first > mostAhead)
    return false;
  ++received[rank];
  if (exchange - first == rounds.size())
    rounds.push_back({std::vector<select::Message>(received.size()), 0});
  Round &round = rounds[exchange - first];
  round.messages[rank] = message;
  ++round.count;
  return true;
}

void Hub::lose(uint32_t rank, const std::string &reason) {
  ++lost;
  lossReasons[rank] = reason;
}

std::optional<Frame> Hub::next() {
  if (rounds.empty() || hasFailed)
    return std::nullopt;
  const Round &round = rounds.front();
  if (round.count < received.size())
    return lost > 0 ? fail() : std::nullopt;
  std::vector<const select::Message *> messages;
  for (const select::Message &message : round.messages)
    messages.push_back(&message);
  select::Exchange result = select::evaluate(messages);
  if (result.error.empty())
    equal = result.call + 1;
  rounds.pop_front();
  return Frame{first++, std::move(result)};
}

/// Returns a failure if the first exchange waits for a rank that is lost.
std::optional<Frame> Hub::fail() {
  for (size_t rank = 0; rank < received.size(); ++rank)
    if (received[rank] == first && !lossReasons[rank].empty()) {
      hasFailed = true;
      return Frame{first, Failure{"online selection: rank " + std::to_string(rank) + " " + lossReasons[rank] +
                                  " before exchange " + std::to_string(first)}};
    }
  return std::nullopt;
}

} // namespace gc3::net
