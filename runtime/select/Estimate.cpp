// SPDX-License-Identifier: Apache-2.0
// A spike is one or two late samples. Three in a row, on the same side, are a change.
#include "select/Estimate.h"

#include <algorithm>
#include <cmath>

namespace gc3::select {

namespace {

constexpr int32_t samplesOfChange = 3;
constexpr float leastChange = 0.12F; ///< logarithm of a factor
constexpr float noisesOfChange = 4;

float medianOf(std::array<float, Estimate::most> values, uint32_t size) {
  const auto middle = values.begin() + (size - 1) / 2;
  std::nth_element(values.begin(), middle, values.begin() + size);
  return *middle;
}

} // namespace

bool Estimate::add(float sample, float noise) {
  const float distance = size < samplesOfChange ? 0 : sample - middle;
  const bool isFar = std::fabs(distance) > std::max(leastChange, noisesOfChange * noise);
  if (!isFar)
    deviating = 0;
  else if (distance > 0)
    deviating = std::max(deviating, 0) + 1;
  else
    deviating = std::min(deviating, 0) - 1;
  if (size == most) {
    std::copy(samples.begin() + 1, samples.end(), samples.begin());
    --size;
  }
  samples[size++] = sample;
  const bool hasChanged = std::abs(deviating) == samplesOfChange;
  if (hasChanged) {
    std::copy(samples.begin() + size - samplesOfChange, samples.begin() + size, samples.begin());
    size = samplesOfChange;
    deviating = 0;
  }
  update();
  return hasChanged;
}

void Estimate::update() {
  middle = medianOf(samples, size);
  std::array<float, most> distances{};
  for (uint32_t i = 0; i < size; ++i)
    distances[i] = std::fabs(samples[i] - middle);
  width = 1.4826F * medianOf(distances, size);
}

} // namespace gc3::select
