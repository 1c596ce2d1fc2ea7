// SPDX-License-Identifier: Apache-2.0
// Time and memory of the stages, for --time-report.
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
  /// `reports`: the caller will call print(). Timers then also measure the peak memory.
  explicit StageTimes(bool reports) : reports(reports) {}

  /// Measures the time from its creation to its destruction, and adds it to the time of a stage.
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
  /// Prints a line per stage, in the order in which the stages first started: the milliseconds, and the peak memory of
  /// the process when the stage ended. Then prints the sums. Unless `instructions` is 0, also prints instructions per
  /// second, and bytes of peak memory per instruction of GC3-IR.
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
