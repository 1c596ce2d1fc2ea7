// SPDX-License-Identifier: Apache-2.0
// Medians of a short window: a spike moves them little, and a change moves them soon.
#include "select/Estimate.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace gc3::select {

namespace {

constexpr uint32_t fewestToJudge = 3; ///< with fewer samples, no sample is far
constexpr float leastFar = 0.12F;     ///< logarithm of a factor
constexpr float noisesOfFar = 4;

} // namespace

Estimate::Verdict Estimate::add(float sample, float noise, uint32_t samplesOfChange) {
  const float distance = size < fewestToJudge ? 0 : sample - middle;
  const bool isFar = std::fabs(distance) > std::max(leastFar, noisesOfFar * noise);
  deviating = countDeviating(isFar, distance > 0);
  push(sample);
  const auto run = static_cast<uint32_t>(std::abs(deviating));
  const bool hasChanged = run >= samplesOfChange;
  if (hasChanged) {
    keepLast(run);
    deviating = 0;
  }
  update();
  return hasChanged ? Verdict::Changed : isFar ? Verdict::Far : Verdict::Near;
}

int32_t Estimate::countDeviating(bool isFar, bool isAbove) const {
  if (!isFar)
    return 0;
  return isAbove ? std::max(deviating, 0) + 1 : std::min(deviating, 0) - 1;
}

void Estimate::push(float sample) {
  float *const begin = sorted.data();
  if (size == most) {
    float *const oldest = std::lower_bound(begin, begin + size, samples[next]);
    std::copy(oldest + 1, begin + size, oldest);
    --size;
  }
  float *const place = std::upper_bound(begin, begin + size, sample);
  std::copy_backward(place, begin + size, begin + size + 1);
  *place = sample;
  ++size;
  samples[next] = sample;
  next = (next + 1) % most;
}

void Estimate::keepLast(uint32_t number) {
  const std::array<float, most> old = samples;
  const uint32_t first = next + most - number;
  forget();
  for (uint32_t i = 0; i < number; ++i)
    push(old[(first + i) % most]);
}

/// Computes the median, and the median distance from it. Distances grow from the median to both sides, so the search
/// merges two ascending sequences.
void Estimate::update() {
  const uint32_t half = (size - 1) / 2;
  middle = sorted[half];
  uint32_t below = half, above = half + 1; // the next distances: of sorted[below], sorted[above]
  float distance = 0;
  for (uint32_t i = 0; i <= half; ++i) {
    const bool isBelow = above == size || (below != UINT32_MAX && middle - sorted[below] <= sorted[above] - middle);
    distance = isBelow ? middle - sorted[below--] : sorted[above++] - middle;
  }
  width = deviationOfNormal * distance;
}

} // namespace gc3::select
