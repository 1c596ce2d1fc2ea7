// SPDX-License-Identifier: Apache-2.0
#include "select/Exchange.h"

#include "select/RankList.h"

#include <algorithm>
#include <cmath>

namespace gc3::select {

namespace {

using Messages = std::span<const Message *const>;

bool isTime(float time) {
  return time > 0 && std::isfinite(time);
}

float sampleOf(Messages messages, uint32_t index, bool isLongest) {
  float sample = messages[0]->times[index];
  for (const Message *message : messages) {
    const float time = message->times[index];
    if (!isTime(time))
      return noTime;
    sample = isLongest ? std::max(sample, time) : std::min(sample, time);
  }
  return sample;
}

/// Returns the value of a field that more than half of the ranks have. If there is none, returns some rank's value.
template <typename Field>
uint64_t findMajority(Messages messages, Field field) {
  uint64_t value = 0;
  size_t votes = 0;
  for (const Message *message : messages) {
    if (votes == 0)
      value = message->*field;
    votes += message->*field == value ? 1 : -1;
  }
  return value;
}

template <typename Field>
bool areEqual(Messages messages, Field field) {
  return std::all_of(messages.begin(), messages.end(),
                     [&](const Message *message) { return message->*field == messages[0]->*field; });
}

/// Names the ranks whose field differs from that of most ranks. Names all ranks if no value has a majority.
template <typename Field>
std::string nameRanks(Messages messages, Field field) {
  const uint64_t value = findMajority(messages, field);
  RankList others, all;
  for (size_t rank = 0; rank < messages.size(); ++rank) {
    all.add(rank);
    if (messages[rank]->*field != value)
      others.add(rank);
  }
  const size_t equal = messages.size() - others.size();
  if (equal <= others.size())
    return all.str() + " differ";
  return others.str() + " differ from those of the other " + std::to_string(equal);
}

std::string findError(Messages messages) {
  auto compare = [&](auto field, const char *what, const char *remedy) {
    if (areEqual(messages, field))
      return std::string();
    return "online selection, call " + std::to_string(findMajority(messages, &Message::call)) + ": the " + what +
           " of " + nameRanks(messages, field) + "; " + remedy;
  };
  std::string error = compare(&Message::call, "exchanges", "report this as a bug");
  if (error.empty())
    error = compare(&Message::count, "exchanges", "report this as a bug");
  if (error.empty())
    error =
        compare(&Message::choices, "calls or choices", "check that all ranks make the same calls, and their memory");
  if (error.empty())
    error = compare(&Message::state, "selectors",
                    "check that all ranks have the same settings and files, and their memory");
  return error;
}

} // namespace

Exchange evaluate(Messages messages) {
  Exchange exchange{messages[0]->call,  0, std::min(messages[0]->count, Message::mostTimes), {}, {},
                    findError(messages)};
  for (const Message *message : messages) {
    exchange.lag = std::max(exchange.lag, message->lag);
    for (uint32_t i = 0; i < exchange.count; ++i)
      exchange.flags[i] |= message->flags[i];
  }
  for (uint32_t i = 0; i < exchange.count; ++i)
    exchange.samples[i] = sampleOf(messages, i, (exchange.flags[i] & longestFlag) != 0);
  return exchange;
}

} // namespace gc3::select
