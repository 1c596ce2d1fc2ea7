// SPDX-License-Identifier: Apache-2.0
#include "Replay.h"
#include "select/Schedule.h"
#include "select/Selector.h"
#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <random>

namespace gc3::tune {

namespace {

/// The arm that is predicted to be the fastest of a bucket; the first one if there are no predictions.
uint32_t fastestArm(const Recording &recording, uint32_t bucket) {
  const size_t count = recording.arms.size();
  const float *times = recording.predicted.data() + bucket * count;
  uint32_t best = 0;
  for (uint32_t arm = 1; arm < count; ++arm)
    if (times[arm] < times[best] || std::isnan(times[best]))
      best = arm;
  return best;
}

select::Arms armsOf(const Recording &recording) {
  select::Arms arms{recording.buckets, static_cast<uint32_t>(recording.arms.size()), recording.predicted, {}};
  for (uint32_t b = 0; b < recording.buckets; ++b)
    arms.fixed.push_back(fastestArm(recording, b));
  return arms;
}

/// A selector, and the calls that repeat its last choices.
class Chooser {
public:
  explicit Chooser(const Recording &recording) : selector(armsOf(recording), budget), repeats(recording.buckets) {}

  select::Call choose(uint32_t bucket) {
    if (repeats[bucket] != 0) {
      --repeats[bucket];
      return {0, bucket, selector.favourite(bucket), false};
    }
    const select::Selector::Choice choice = selector.choose(bucket);
    repeats[bucket] = choice.repeats;
    return {0, bucket, choice.arm, true};
  }
  void add(const select::Call &call, double time) {
    if (call.isTimed)
      selector.add(call.bucket, call.arm, static_cast<float>(time));
  }
  uint64_t digest() const { return selector.digest(); }

private:
  select::Budget budget{0.02};
  select::Selector selector;
  std::vector<uint32_t> repeats; ///< by bucket
};

void replayOne(const Recording &recording, Replay &result) {
  Chooser chooser(recording);
  select::Call last;
  for (size_t call = 0; call < recording.bucketOf.size(); ++call) {
    const select::Call now = chooser.choose(recording.bucketOf[call]);
    if (call > 0)
      chooser.add(last, recording.at(call - 1, last.arm));
    result.choices.push_back(now.arm);
    last = now;
  }
}

/// One of several ranks.
struct Rank {
  Rank(const Recording &recording, uint64_t seed) : chooser(recording), schedule(select::streamTerms), random(seed) {}

  double noisy(double time) { return time * (1 + std::uniform_real_distribution<double>(-0.02, 0.02)(random)); }
  uint64_t below(uint64_t limit) { return std::uniform_int_distribution<uint64_t>(0, limit - 1)(random); }

  Chooser chooser;
  select::Schedule schedule;
  std::mt19937_64 random;
  std::vector<float> times;             ///< by call
  std::deque<select::Message> messages; ///< of exchanges that have not ended on all ranks
  std::deque<uint64_t> arrivals;        ///< of exchanges that have not ended on this rank: the call of their end
  uint64_t taken = 0;                   ///< exchanges that have ended on this rank
};

/// The ranks make each call one after the other. An exchange ends on each rank at a random later call.
class Ranks {
public:
  Ranks(const Recording &of, uint32_t count, uint64_t seed) : recording(of) {
    for (uint32_t r = 0; r < count; ++r)
      ranks.push_back(std::make_unique<Rank>(recording, seed * 1000003 + r));
  }

  /// Makes the next call on all ranks. Returns an error text if they choose different arms.
  std::string call(size_t number, std::vector<uint32_t> &choices) {
    for (const auto &rank : ranks) {
      if (std::string problem = applyDue(*rank, number); !problem.empty())
        return problem;
      const select::Call chosen = rank->chooser.choose(recording.bucketOf[number]);
      if (rank == ranks[0])
        choices.push_back(chosen.arm);
      else if (chosen.arm != choices.back())
        return "call " + std::to_string(number) + ": two ranks choose the arms '" + recording.arms[choices.back()] +
               "' and '" + recording.arms[chosen.arm] + "'";
      rank->times.push_back(static_cast<float>(rank->noisy(recording.at(number, chosen.arm))));
      if (rank->schedule.record(chosen))
        begin(*rank, number);
    }
    return {};
  }

private:
  static constexpr uint64_t usualDelay = 32, rareDelay = 256; ///< calls

  void begin(Rank &rank, size_t number) {
    select::Message message = rank.schedule.begin(rank.chooser.digest());
    std::copy_n(rank.times.begin() + static_cast<std::ptrdiff_t>(message.call - message.count), message.count,
                message.times.begin());
    rank.messages.push_back(message);
    rank.arrivals.push_back(number + 1 + rank.below(rank.below(100) == 0 ? rareDelay : usualDelay));
  }

  /// Takes the exchanges that have arrived, and those that the call needs.
  std::string applyDue(Rank &rank, size_t number) {
    while (!rank.arrivals.empty() && rank.arrivals.front() <= number && haveAll(rank.taken))
      take(rank);
    while (rank.schedule.isDue()) {
      if (!rank.schedule.hasEnded())
        take(rank); // the call waits
      if (!rank.schedule.error().empty())
        return rank.schedule.error();
      rank.schedule.apply([&](const select::Call &call, float sample, uint8_t) { rank.chooser.add(call, sample); });
    }
    return {};
  }

  bool haveAll(uint64_t exchange) const {
    return std::all_of(ranks.begin(), ranks.end(),
                       [&](const auto &rank) { return exchange - dropped < rank->messages.size(); });
  }

  void take(Rank &rank) {
    std::vector<const select::Message *> messages;
    for (const auto &each : ranks)
      messages.push_back(&each->messages[rank.taken - dropped]);
    rank.schedule.end(select::evaluate(messages));
    rank.arrivals.pop_front();
    ++rank.taken;
    if (std::any_of(ranks.begin(), ranks.end(), [&](const auto &each) { return each->taken == dropped; }))
      return;
    ++dropped;
    for (const auto &each : ranks)
      each->messages.pop_front();
  }

  const Recording &recording;
  std::vector<std::unique_ptr<Rank>> ranks;
  uint64_t dropped = 0; ///< exchanges that all ranks have taken
};

} // namespace

Replay replay(const Recording &recording, uint32_t count, uint64_t seed) {
  Replay result;
  if (count == 1)
    replayOne(recording, result);
  Ranks ranks(recording, count == 1 ? 0 : count, seed);
  const size_t arms = recording.arms.size(), calls = recording.bucketOf.size();
  for (size_t call = 0; count > 1 && call < calls && result.disagreement.empty(); ++call)
    result.disagreement = ranks.call(call, result.choices);
  std::vector<double> fixed(recording.buckets * arms);
  for (size_t call = 0; call < result.choices.size(); ++call) {
    result.time += recording.at(call, result.choices[call]);
    for (uint32_t arm = 0; arm < arms; ++arm)
      fixed[recording.bucketOf[call] * arms + arm] += recording.at(call, arm);
  }
  for (uint32_t b = 0; b < recording.buckets; ++b)
    result.bestFixed += *std::min_element(fixed.begin() + static_cast<std::ptrdiff_t>(b * arms),
                                          fixed.begin() + static_cast<std::ptrdiff_t>((b + 1) * arms));
  return result;
}

} // namespace gc3::tune
