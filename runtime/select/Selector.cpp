// SPDX-License-Identifier: Apache-2.0
// The favourite is the arm whose next time is probably the shortest. Another arm is worth a call if its optimistic
// time, `boldness` doubts below its probable time, is shorter than the favourite's probable time.
//
// The doubt of a prediction is the usual error of the predictions of arms that have samples. So a selector with good
// predictions trusts them, and one with bad predictions tries almost all arms.
#include "select/Selector.h"

#include "select/Logarithm.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

namespace gc3::select {

namespace {

constexpr float boldness = 2;
constexpr float leastGain = 0.02F;  ///< a smaller gain is not worth a call or a change
constexpr float firstNoise = 0.06F; ///< of samples, before there are any
constexpr float leastNoise = 0.005F;
constexpr float firstDoubt = 0.25F;      ///< of predictions, before there are samples
constexpr float firstWeight = 2;         ///< of firstNoise and firstDoubt, in samples and arms
constexpr float shiftWeight = 3;         ///< of "there is no common error", in arms
constexpr float doubtOfUnknown = 1;      ///< of an arm without a prediction
constexpr float doubtOfNeighbour = 0.1F; ///< of what a sample says about the adjacent bucket
constexpr float doubtOfVariant = 0.1F;   ///< of what an arm's time says about its variants
constexpr float doubtOfAge = 0.12F;      ///< of a sample that is `oldAge` samples old
constexpr float oldAge = 1000;
constexpr float doubtOfChange = 0.5F; ///< of a sample from before a change
constexpr uint32_t reach = 2;         ///< buckets on each side that share what they have learned

constexpr float infinity = std::numeric_limits<float>::infinity();

float square(float x) {
  return x * x;
}

/// Returns the doubt of what a sample says about another bucket.
float doubtOfDistance(uint32_t a, uint32_t b) {
  return doubtOfNeighbour * static_cast<float>(a < b ? b - a : a - b);
}

} // namespace

bool Selector::Arm::canRun() const {
  return predicted != infinity;
}

Selector::Selector(const Arms &arms, Budget &commonBudget)
    : buckets(arms.buckets), count(arms.count), budget(commonBudget), bases(arms.variantOf),
      states(std::size_t(arms.buckets) * arms.count), pending(states.size()), rows(arms.buckets),
      prospects(states.size()) {
  if (bases.empty()) {
    bases.resize(count);
    std::iota(bases.begin(), bases.end(), 0);
  }
  for (std::size_t i = 0; i < states.size(); ++i)
    states[i].predicted = logarithm(arms.predicted[i]);
  for (uint32_t b = 0; b < buckets; ++b)
    rows[b].favourite = arms.fixed[b], rows[b].noise = firstNoise;
}

Selector::Choice Selector::choose(uint32_t bucket) {
  Row &row = rows[bucket];
  if (!std::exchange(row.hasBegun, true))
    refresh(bucket); // near buckets may have learned since
  ++row.calls;
  uint32_t chosen = row.favourite;
  if (const Prospect *candidate = budget.isFrozen() ? nullptr : findCandidate(bucket)) {
    chosen = candidate->arm;
    if (row.calls > firstCalls)
      budget.spend(static_cast<double>(candidate->cost));
  }
  ++pending[index(bucket, chosen)];
  ++at(bucket, chosen).calls;
  note(bucket, chosen, 0);
  const uint32_t repeats = repeatsOf(row);
  at(bucket, row.favourite).calls += repeats;
  row.calls += repeats;
  budget.addCall(static_cast<double>(repeats) * row.microseconds);
  return {chosen, repeats};
}

void Selector::add(uint32_t bucket, uint32_t number, float microseconds, Timing timing) {
  note(bucket, number, microseconds);
  endPending(bucket, number);
  addSample(bucket, number, microseconds, timing);
}

void Selector::adopt(Selector &chooser, uint32_t bucket, uint32_t number, float microseconds, Timing timing) {
  chooser.note(bucket, number, std::numeric_limits<float>::quiet_NaN());
  chooser.endPending(bucket, number);
  --chooser.rows[bucket].calls;
  --chooser.at(bucket, number).calls;
  note(bucket, number, microseconds);
  ++rows[bucket].calls;
  ++at(bucket, number).calls;
  addSample(bucket, number, microseconds, timing);
}

/// The time of a call has arrived.
void Selector::endPending(uint32_t bucket, uint32_t arm) {
  uint32_t &waiting = pending[index(bucket, arm)];
  waiting -= waiting != 0;
}

void Selector::addSample(uint32_t bucket, uint32_t number, float microseconds, Timing timing) {
  Row &row = rows[bucket];
  Arm &arm = at(bucket, number);
  if (!(microseconds > 0) || !std::isfinite(microseconds))
    return;
  budget.addCall(microseconds);
  if (arm.lastSample < row.changedAt)
    arm.estimate.forget();
  arm.lastSample = ++row.samples;
  const Estimate::Verdict verdict = arm.estimate.add(logarithm(microseconds), row.noise, samplesOfChange(row));
  row.isSuspect = verdict == Estimate::Verdict::Far, row.timing = timing;
  switch (verdict) {
  case Estimate::Verdict::Near: break;
  case Estimate::Verdict::Far: ++row.farSamples; break;
  case Estimate::Verdict::Changed: row.changedAt = row.samples; break;
  }
  refresh(bucket);
}

float Selector::expected(uint32_t bucket, uint32_t arm) const {
  return exponential(at(bucket, arm).next.time);
}

/// Adds an event to the hash.
void Selector::note(uint32_t bucket, uint32_t arm, float microseconds) {
  uint32_t bits = 0;
  std::memcpy(&bits, &microseconds, sizeof bits);
  for (const uint64_t word : {uint64_t{bucket} << 32 | arm, uint64_t{bits}})
    history = (history ^ word) * 0x9e3779b97f4a7c15U, history ^= history >> 29;
}

void Selector::learn(uint32_t bucket, uint32_t number, const Experience &earlier) {
  constexpr uint64_t most = Estimate::most / 2; // less than a window, so that new samples soon count more
  const auto [calls, median, spread] = earlier;
  Row &row = rows[bucket];
  Arm &arm = at(bucket, number);
  if (!(median > 0) || !std::isfinite(median) || !arm.canRun())
    return;
  for (const float value : {static_cast<float>(calls), median, spread})
    note(bucket, number, value);
  for (uint64_t i = 0; i < std::min(calls, most); ++i) { // samples with this median and this spread
    const float distance = spread / Estimate::deviationOfNormal;
    arm.estimate.add(logarithm(median) + (i == 0       ? 0
                                          : i % 2 == 0 ? -distance
                                                       : distance),
                     row.noise + spread, UINT32_MAX);
  }
  arm.calls = calls;
  row.calls += static_cast<uint32_t>(std::min<uint64_t>(calls, firstCalls - std::min(row.calls, firstCalls)));
  refresh(bucket);
}

Selector::Experience Selector::experience(uint32_t bucket, uint32_t number) const {
  const Arm &arm = at(bucket, number);
  const uint32_t samples = arm.estimate.count();
  return {arm.calls, samples == 0 ? 0 : exponential(arm.estimate.median()), samples < 3 ? 0 : arm.estimate.spread()};
}

void Arms::exclude(uint32_t arm) {
  for (uint32_t b = 0; b < buckets; ++b)
    predicted[std::size_t(b) * count + arm] = infinity;
  for (uint32_t b = 0; b < buckets; ++b)
    for (uint32_t other = 0; fixed[b] == arm && other < count; ++other)
      if (predicted[std::size_t(b) * count + other] != infinity)
        fixed[b] = other;
}

void Selector::exclude(uint32_t number) {
  for (uint32_t b = 0; b < buckets; ++b) {
    at(b, number).predicted = infinity;
    at(b, number).estimate = {};
  }
  for (uint32_t b = 0; b < buckets; ++b) {
    Row &row = rows[b];
    for (uint32_t other = 0; row.favourite == number && other < count; ++other)
      if (at(b, other).canRun())
        row.favourite = other;
    if (row.calls != 0)
      refresh(b);
  }
}

/// The first calls need the most samples. After a far sample, the next ones soon show whether it is a spike or a
/// change.
uint32_t Selector::repeatsOf(const Row &row) const {
  const bool hasChanged = row.changedAt != 0 && row.samples < row.changedAt + firstCalls;
  if (row.calls < firstCalls || row.isSuspect || hasChanged)
    return 0;
  const uint32_t most = std::clamp(row.calls / 16, 8U, 255U);
  const float timedEvery = row.timing == Timing::Costly ? 600 : 80; // microseconds of calls
  return static_cast<uint32_t>(std::min(timedEvery / row.microseconds, static_cast<float>(most)));
}

/// Returns how many far samples in a row are a change: so many that spikes alone do this in one of 100,000 calls.
uint32_t Selector::samplesOfChange(const Row &row) {
  constexpr float rare = 1e-5F;
  constexpr uint32_t fewest = 3, most = 8;
  const float rate = (static_cast<float>(row.farSamples) + 0.5F) / (static_cast<float>(row.samples) + 20);
  uint32_t needed = fewest;
  for (float chance = rate * rate * rate; chance > rare && needed < most; chance *= rate)
    ++needed;
  return needed;
}

/// Returns the time that the arm has if it is better than it probably is.
float Selector::optimistic(const Row &row, const Arm &arm) {
  float variance = square(arm.next.doubt);
  if (arm.estimate.count() != 0) {
    variance += square(doubtOfAge) * static_cast<float>(row.samples - arm.lastSample) / oldAge;
    if (arm.lastSample < row.changedAt)
      variance += square(doubtOfChange);
  }
  const float time = arm.next.time - boldness * std::sqrt(variance);
  return arm.estimate.count() == 1 ? std::min(time, arm.hope) : time;
}

/// Returns the arm that is most worth a call; null if only the favourite is.
const Selector::Prospect *Selector::findCandidate(uint32_t bucket) const {
  const Row &row = rows[bucket];
  if (at(bucket, row.favourite).estimate.count() == 0 && pending[index(bucket, row.favourite)] == 0)
    return nullptr; // first shows what there is to improve
  const Prospect *best = nullptr;
  for (uint32_t i = 0; i < row.prospects; ++i) {
    const Prospect &prospect = prospects[index(bucket, i)];
    if ((!best || prospect.time < best->time) && pending[index(bucket, prospect.arm)] == 0 &&
        (row.calls <= firstCalls || budget.allows(static_cast<double>(prospect.cost))))
      best = &prospect;
  }
  return best;
}

/// Returns whether an arm is a variant of an arm whose time must be known first.
bool Selector::isTooEarly(uint32_t bucket, uint32_t arm) const {
  return at(bucket, arm).estimate.count() == 0 && isVariant(arm) && at(bucket, bases[arm]).estimate.count() == 0;
}

/// Finds the arms that may be faster than the favourite.
void Selector::findProspects(uint32_t bucket) {
  Row &row = rows[bucket];
  const float limit = at(bucket, row.favourite).next.time - leastGain;
  row.prospects = 0;
  for (uint32_t a = 0; a < count; ++a) {
    const Arm &arm = at(bucket, a);
    if (a == row.favourite || !arm.canRun() || isTooEarly(bucket, a))
      continue;
    if (const float time = optimistic(row, arm); time < limit)
      prospects[index(bucket, row.prospects++)] = {a, time,
                                                   std::max(0.0F, exponential(arm.next.time) - row.microseconds)};
  }
}

/// Computes what the samples say about all arms of a bucket.
void Selector::refresh(uint32_t bucket) {
  Row &row = rows[bucket];
  row.noise = noiseOf(bucket);
  const Errors errors = errorsOf(bucket);
  for (uint32_t a = 0; a < count; ++a) {
    Arm &arm = at(bucket, a);
    const uint32_t samples = arm.estimate.count();
    const Guess others = !arm.canRun()  ? Guess{infinity, 0}
                         : isVariant(a) ? guessOfVariant(bucket, a)
                                        : guessFromOthers(bucket, a, errors);
    arm.next = others;
    if (samples == 0)
      continue;
    arm.hope = others.time - boldness * others.doubt;
    const Guess own{arm.estimate.median(), row.noise / std::sqrt(static_cast<float>(samples))};
    const float difference = others.time - own.time;
    const float ownSquare = square(own.doubt), bothSquare = ownSquare + square(others.doubt);
    arm.next = own;
    if (square(difference) < square(boldness) * bothSquare) // the two guesses do not contradict each other
      arm.next = {own.time + difference * ownSquare / bothSquare, own.doubt * others.doubt / std::sqrt(bothSquare)};
  }
  chooseFavourite(bucket);
  findProspects(bucket);
}

float Selector::noiseOf(uint32_t bucket) const {
  float sum = firstWeight * firstNoise, weights = firstWeight;
  for (uint32_t a = 0; a < count; ++a)
    if (const Estimate &estimate = at(bucket, a).estimate; estimate.count() >= 3) {
      const auto weight = static_cast<float>(estimate.count());
      sum += weight * estimate.spread(), weights += weight;
    }
  return std::max(leastNoise, sum / weights);
}

Selector::Errors Selector::errorsOf(uint32_t bucket) const {
  const float noise = square(rows[bucket].noise);
  float sum = 0, squares = 0, known = 0;
  for (uint32_t a = 0; a < count; ++a) {
    const Arm &arm = at(bucket, a);
    if (arm.estimate.count() == 0 || !std::isfinite(arm.predicted) || isVariant(a))
      continue;
    const float error = arm.estimate.median() - arm.predicted;
    sum += error, known += 1;
    squares += std::max(0.0F, square(error) - noise / static_cast<float>(arm.estimate.count()));
  }
  return {sum / (known + shiftWeight), std::sqrt((square(firstDoubt) * firstWeight + squares) / (known + firstWeight))};
}

/// Returns the nearest other bucket in which the arm has samples; `bucket` if there is none.
uint32_t Selector::nearestKnown(uint32_t bucket, uint32_t arm) const {
  for (uint32_t distance = 1; distance <= reach; ++distance)
    for (const uint32_t near : {bucket - distance, bucket + distance})
      if (near < buckets && at(near, arm).estimate.count() != 0)
        return near;
  return bucket;
}

/// Guesses a variant's time from that of its arm: they differ as in a near bucket.
Selector::Guess Selector::guessOfVariant(uint32_t bucket, uint32_t number) const {
  const Guess &base = at(bucket, bases[number]).next;
  const uint32_t near = nearestKnown(bucket, number);
  const float difference = at(near, number).next.time - at(near, bases[number]).next.time;
  return near == bucket
             ? Guess{base.time, std::sqrt(square(base.doubt) + square(doubtOfVariant))}
             : Guess{base.time + difference, std::sqrt(square(base.doubt) + square(doubtOfDistance(near, bucket)))};
}

/// Guesses an arm's time without its own samples: from its samples in near buckets, else from its prediction, else from
/// the favourite's time.
Selector::Guess Selector::guessFromOthers(uint32_t bucket, uint32_t number, const Errors &errors) const {
  const Arm &arm = at(bucket, number);
  const bool isPredicted = !std::isnan(arm.predicted);
  if (const uint32_t near = nearestKnown(bucket, number); near != bucket) {
    const Arm &known = at(near, number);
    const float doubt = doubtOfDistance(near, bucket);
    if (isPredicted && std::isfinite(known.predicted))
      return {arm.predicted + known.next.time - known.predicted, doubt};
    return {known.next.time, doubt + doubtOfUnknown / 2};
  }
  if (isPredicted)
    return {arm.predicted + errors.shift, errors.doubt};
  const Arm &favourite = at(bucket, rows[bucket].favourite);
  return {favourite.estimate.count() == 0 ? 0 : favourite.estimate.median() + doubtOfUnknown, doubtOfUnknown};
}

/// The favourite is the fixed arm until there are samples. Then it is an arm with samples. If choices are frozen, only
/// samples of earlier jobs change it.
void Selector::chooseFavourite(uint32_t bucket) {
  Row &row = rows[bucket];
  const bool isFrozen = budget.isFrozen() && row.samples != 0;
  const auto rank = [&](uint32_t a) {
    const Arm &arm = at(bucket, a);
    return arm.estimate.count() == 0 ? std::numeric_limits<float>::infinity() : arm.next.time;
  };
  float best = rank(row.favourite) - leastGain / 2;
  for (uint32_t a = 0; a < count && !isFrozen; ++a)
    if (const float time = rank(a); time < best)
      best = time, row.favourite = a;
  row.microseconds = exponential(at(bucket, row.favourite).next.time);
}

} // namespace gc3::select
