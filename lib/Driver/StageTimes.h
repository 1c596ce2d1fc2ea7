// SPDX-License-Identifier: Apache-2.0
// How long the stages take and how much memory, for --time-report.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace gc3::driver {

class StageTimes {
public:
  /// `reports`: print() will be called, so memory is worth looking at.
  explicit StageTimes(bool reports) : reports(reports) {}

  /// Adds the time until it is destroyed to its stage.
  class Timer {
  public:
    Timer(StageTimes &times, size_t stage) : times(times), stage(stage) {}
    Timer(const Timer &) = delete;
    Timer &operator=(const Timer &) = delete;
    ~Timer();

  private:
    StageTimes &times;
    size_t stage;
    std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  };

  Timer start(const char *stage);
  /// A line per stage in the order of their first start: milliseconds, and the process's peak memory by its end. Then
  /// the sums, as a rate and as bytes for each of the `instructions` of GC3-IR, if there are any.
  void print(llvm::raw_ostream &out, uint64_t instructions) const;

private:
  struct Stage {
    std::string name;
    std::chrono::steady_clock::duration time{};
    double peak = 0; // MiB
  };
  std::vector<Stage> stages;
  bool reports;
};

} // namespace gc3::driver
