// SPDX-License-Identifier: Apache-2.0
#include "net/ChoiceSearch.h"

#include <algorithm>
#include <utility>

namespace gc3::net {

void ChoiceSearch::begin(uint64_t calls) {
  if (state != State::Idle)
    return;
  state = State::Asks;
  asked = equal = calls;
  differing = 0;
  difference.clear();
}

void ChoiceSearch::stop() {
  if (state != State::Idle)
    state = State::HasEnded;
}

bool ChoiceSearch::add(uint32_t rank, const Answer &answer) {
  if (state == State::Idle || state == State::HasEnded)
    return true; // the rank can't know this
  if (state != State::Waits || answer.asked != asked || answers[rank])
    return false;
  answers[rank] = answer;
  if (++count == answers.size())
    endRound();
  return true;
}

std::optional<Frame> ChoiceSearch::next() {
  switch (state) {
  case State::Idle:
  case State::Waits: return std::nullopt;
  case State::Asks:
    state = State::Waits;
    count = 0;
    std::fill(answers.begin(), answers.end(), std::nullopt);
    return Frame{0, Question{asked}};
  case State::HasEnded: state = State::Idle; return Frame{0, Verdict{difference}};
  }
  __builtin_unreachable();
}

/// The answers to the first question have the numbers of calls. Later, a rank that does not know its choices ends the
/// search.
void ChoiceSearch::endRound() {
  const auto fewest = std::min_element(answers.begin(), answers.end(),
                                       [](const auto &a, const auto &b) { return a->calls < b->calls; });
  const uint64_t known = (*fewest)->calls;
  if (differing == 0)
    differing = known + 1;
  else if (known < asked)
    return stop();
  else if (std::string found = compare(); found.empty())
    equal = asked;
  else
    differing = asked, difference = std::move(found);
  state = differing > equal + 1 ? State::Asks : State::HasEnded;
  asked = equal + (differing - equal) / 2;
}

/// Returns a sentence that names the ranks whose choices differ; empty if none do.
std::string ChoiceSearch::compare() const {
  std::vector<select::Message> messages;
  for (const std::optional<Answer> &answer : answers)
    messages.push_back({asked - 1, answer->choices, 0, 0, 0, {}, {}});
  std::vector<const select::Message *> pointers;
  for (const select::Message &message : messages)
    pointers.push_back(&message);
  return select::evaluate(pointers).error;
}

} // namespace gc3::net
