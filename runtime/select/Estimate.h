// SPDX-License-Identifier: Apache-2.0
// What one arm's recent times in one bucket say about its next time. Times are logarithms of microseconds, because
// errors of predictions and noise are factors.
#pragma once

#include <array>
#include <cstdint>

namespace gc3::select {

class Estimate {
public:
  static constexpr uint32_t most = 15; ///< samples in the window

  /// Adds a sample. If the last samples show that the time has changed for good, forgets the samples before the change,
  /// and returns true. `noise` is the usual distance of a sample from the median.
  bool add(float sample, float noise);
  void forget() { size = 0, deviating = 0; }

  uint32_t count() const { return size; }
  /// Returns the median; of two samples in the middle, the smaller one. So one late sample of two does not count.
  float median() const { return middle; }
  /// Returns the median distance from the median, scaled to a standard deviation of normal noise. Needs 3 samples.
  float spread() const { return width; }

private:
  void update();

  std::array<float, most> samples{}; ///< the last `size` samples, the oldest first
  uint32_t size = 0;
  int32_t deviating = 0; ///< number of last samples that lie far above the median; negative: far below
  float middle = 0, width = 0;
};

} // namespace gc3::select
