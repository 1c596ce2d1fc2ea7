// SPDX-License-Identifier: Apache-2.0
// The table of --time-report.
#include "StageTimes.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <sys/resource.h>

using namespace gc3::driver;

StageTimes::Timer::~Timer() {
  times.stages[stage].time += std::chrono::steady_clock::now() - begin;
}

StageTimes::Timer StageTimes::start(const char *stage) {
  auto place = std::find_if(stages.begin(), stages.end(), [&](const Stage &other) { return other.name == stage; });
  if (place == stages.end())
    place = stages.insert(stages.end(), {stage, {}});
  return {*this, static_cast<size_t>(place - stages.begin())};
}

void StageTimes::print(llvm::raw_ostream &out) const {
  auto milliseconds = [](std::chrono::steady_clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
  };
  std::chrono::steady_clock::duration sum{};
  for (const Stage &stage : stages) {
    sum += stage.time;
    out << llvm::format("%10.2f ms  %s\n", milliseconds(stage.time), stage.name.c_str());
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  out << llvm::format("%10.2f ms  in all, peak memory %.1f MiB\n", milliseconds(sum),
                      static_cast<double>(usage.ru_maxrss) / 1024);
}
