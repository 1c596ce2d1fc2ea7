// SPDX-License-Identifier: Apache-2.0
// What one arm's recent times in one bucket say about its next time. Times are logarithms of microseconds, because
// noise and the errors of predictions are factors.
#pragma once

#include <array>
#include <cstdint>

namespace gc3::select {

class Estimate {
public:
  static constexpr uint32_t most = 15; ///< samples in the window
  /// The standard deviation of normal noise / its median distance from the median.
  static constexpr float deviationOfNormal = 1.4826F;

  enum class Verdict : uint8_t {
    Near,   ///< the sample is near the median
    Far,    ///< the sample is far from it, perhaps a spike
    Changed ///< so many samples in a row are far, on one side, that the time has changed. The others are forgotten
  };
  /// Adds a sample. `noise` is the usual distance of a sample from the median. `samplesOfChange` far samples in a row
  /// are a change.
  Verdict add(float sample, float noise, uint32_t samplesOfChange);
  void forget() { size = next = 0, deviating = 0; }

  uint32_t count() const { return size; }
  /// Returns the median; of two samples in the middle, the smaller one. So one spike among two samples does not count.
  float median() const { return middle; }
  /// Returns the median distance from the median, scaled to the standard deviation of normal noise. Needs 3 samples.
  float spread() const { return width; }

private:
  int32_t countDeviating(bool isFar, bool isAbove) const;
  void push(float sample);
  void keepLast(uint32_t number);
  void update();

  std::array<float, most> samples{}; ///< the last `size` samples; samples[next] is the oldest if all places are used
  std::array<float, most> sorted{};  ///< the same, in ascending order
  uint32_t size = 0, next = 0;
  int32_t deviating = 0; ///< number of last samples that lie far above the median; negative: far below
  float middle = 0, width = 0;
};

} // namespace gc3::select
