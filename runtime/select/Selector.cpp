// SPDX-License-Identifier: Apache-2.0
// Every arm has an expected time and a doubt. The favourite is the arm with the smallest expected time. Another arm is
// worth a call if its optimistic time, which is `boldness` doubts below the expected one, is shorter than the
// favourite's expected time.
//
// The doubt of an arm without samples is the usual error of the predictions of arms that have samples. So a selector
// with good predictions trusts them, and one with bad predictions tries almost all arms.
#include "select/Selector.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gc3::select {

namespace {

constexpr float boldness = 2;
constexpr float firstNoise = 0.06F, leastNoise = 0.005F;
constexpr float firstDoubt = 0.25F;      ///< of predictions
constexpr float doubtOfUnknown = 1;      ///< of an arm without a prediction
constexpr float doubtOfNeighbour = 0.1F; ///< of a sample's error in the adjacent bucket
constexpr float doubtOfAge = 0.25F;      ///< of a sample that is `oldAge` calls old
constexpr float oldAge = 1000;
constexpr float doubtOfChange = 0.5F; ///< of a sample from before a change
constexpr float leastGain = 0.01F;
constexpr uint32_t reach = 2; ///< buckets on each side that share what they have learned

float square(float x) {
  return x * x;
}

} // namespace

bool Selector::Arm::canRun() const {
  return predicted != std::numeric_limits<float>::infinity();
}

Selector::Selector(const Arms &arms, Budget &budget)
    : buckets(arms.buckets), count(arms.count), budget(budget), states(std::size_t(arms.buckets) * arms.count),
      rows(arms.buckets) {
  for (std::size_t i = 0; i < states.size(); ++i)
    states[i].predicted = std::log(arms.predicted[i]);
  for (uint32_t b = 0; b < buckets; ++b)
    rows[b] = {0, arms.fixed[b], firstNoise, 0};
}

/// Returns the time that the arm has if it is better than expected.
float Selector::optimistic(const Row &row, const Arm &arm) const {
  float variance = square(arm.doubt);
  if (arm.estimate.count() != 0) {
    const auto age = static_cast<float>(row.calls - arm.lastCall);
    variance += square(doubtOfAge) * age / oldAge;
    if (arm.lastCall < row.changedAt)
      variance += square(doubtOfChange);
  }
  return arm.expected - boldness * std::sqrt(variance);
}

double Selector::costOf(uint32_t bucket, const Arm &arm) const {
  return std::max(0.0F, std::exp(arm.expected) - std::exp(at(bucket, rows[bucket].favourite).expected));
}

/// Returns the arm that is most worth exploring; `count` if there is none.
uint32_t Selector::findCandidate(uint32_t bucket) const {
  const Row &row = rows[bucket];
  float best = at(bucket, row.favourite).expected - leastGain;
  uint32_t found = count;
  for (uint32_t a = 0; a < count; ++a) {
    const Arm &arm = at(bucket, a);
    if (a == row.favourite || arm.pending != 0 || !arm.canRun())
      continue;
    const float time = optimistic(row, arm);
    if (time < best && (row.calls <= firstCalls || budget.allows(costOf(bucket, arm))))
      best = time, found = a;
  }
  return found;
}

uint32_t Selector::choose(uint32_t bucket) {
  Row &row = rows[bucket];
  if (row.calls++ == 0)
    refresh(bucket);
  uint32_t chosen = row.favourite;
  if (!budget.isFrozen())
    if (const uint32_t candidate = findCandidate(bucket); candidate != count) {
      chosen = candidate;
      if (row.calls > firstCalls)
        budget.spend(costOf(bucket, at(bucket, chosen)));
    }
  Arm &arm = at(bucket, chosen);
  ++arm.pending;
  return chosen;
}

void Selector::add(uint32_t bucket, uint32_t number, float microseconds) {
  Row &row = rows[bucket];
  Arm &arm = at(bucket, number);
  arm.pending -= arm.pending != 0;
  if (!(microseconds > 0) || !std::isfinite(microseconds))
    return;
  budget.addCall(microseconds);
  if (arm.lastCall < row.changedAt)
    arm.estimate.forget();
  arm.lastCall = row.calls;
  if (arm.estimate.add(std::log(microseconds), row.noise))
    row.changedAt = row.calls;
  refresh(bucket);
}

/// Guesses the time of an arm without samples from its samples in near buckets, else from its prediction.
void Selector::guess(uint32_t bucket, Arm &arm, uint32_t number, float shift, float doubt) const {
  for (uint32_t distance = 1; distance <= reach; ++distance)
    for (const uint32_t near : {bucket - distance, bucket + distance}) {
      if (near >= buckets || at(near, number).estimate.count() == 0)
        continue;
      const Arm &known = at(near, number);
      const float error = known.expected - known.predicted;
      arm.expected = std::isnan(error) ? known.expected : arm.predicted + error;
      arm.doubt = doubtOfNeighbour * static_cast<float>(distance) + (std::isnan(error) ? doubtOfUnknown / 2 : 0);
      return;
    }
  arm.expected = arm.predicted + shift;
  arm.doubt = doubt;
}

/// Computes what the samples say about all arms of a bucket.
void Selector::refresh(uint32_t bucket) {
  Row &row = rows[bucket];
  float errors = 0, squares = 0, noises = 0, least = std::numeric_limits<float>::infinity();
  uint32_t known = 0, noisy = 0;
  for (uint32_t a = 0; a < count; ++a) {
    const Arm &arm = at(bucket, a);
    const uint32_t samples = arm.estimate.count();
    if (samples == 0)
      continue;
    least = std::min(least, arm.estimate.median());
    if (samples >= 3)
      noises += arm.estimate.spread() * static_cast<float>(samples), noisy += samples;
    if (const float error = arm.estimate.median() - arm.predicted; std::isfinite(error))
      errors += error, squares += square(error), ++known;
  }
  constexpr float prior = 2; // weight of the first values, in arms and samples
  row.noise = std::max(leastNoise, (firstNoise * prior + noises) / (prior + static_cast<float>(noisy)));
  const float shift = known == 0 ? 0 : errors / static_cast<float>(known);
  const float doubt = std::sqrt((square(firstDoubt) * prior + squares) / (prior + static_cast<float>(known)));
  for (uint32_t a = 0; a < count; ++a) {
    Arm &arm = at(bucket, a);
    if (arm.estimate.count() != 0) {
      arm.expected = arm.estimate.median();
      arm.doubt = row.noise / std::sqrt(static_cast<float>(arm.estimate.count()));
    } else {
      guess(bucket, arm, a, shift, doubt);
      if (std::isnan(arm.expected)) {
        arm.expected = std::isfinite(least) ? least + doubtOfUnknown : 0;
        arm.doubt = doubtOfUnknown;
      }
    }
  }
  chooseFavourite(bucket);
}

/// The favourite has samples, if an arm has some.
void Selector::chooseFavourite(uint32_t bucket) {
  Row &row = rows[bucket];
  auto rank = [&](uint32_t a) {
    const Arm &arm = at(bucket, a);
    const float penalty = arm.estimate.count() != 0 ? 0 : 100;
    return arm.canRun() ? arm.expected + penalty : std::numeric_limits<float>::infinity();
  };
  uint32_t best = row.favourite;
  float time = rank(best) - leastGain / 2;
  for (uint32_t a = 0; a < count; ++a)
    if (rank(a) < time)
      best = a, time = rank(a);
  row.favourite = best;
}

} // namespace gc3::select
