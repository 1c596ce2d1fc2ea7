// SPDX-License-Identifier: Apache-2.0
// Measures the stages and prints the table of --time-report.
#include "StageTimes.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>

using namespace gc3::driver;

/// Returns the peak memory of the process in MiB. Does not use getrusage(), because its peak also includes the memory
/// that the process used before it executed gc3c.
static double peakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (llvm::StringRef(line).startswith("VmHWM:"))
      return std::strtod(line.c_str() + std::strlen("VmHWM:"), nullptr) / 1024;
  return 0;
}

StageTimes::Timer::~Timer() {
  Stage &own = times.stages[stage];
  own.time += std::chrono::steady_clock::now() - begin;
  if (times.reports)
    own.peak = peakMemory();
}

StageTimes::Timer StageTimes::start(const char *stage) {
  auto place = std::find_if(stages.begin(), stages.end(), [&](const Stage &other) { return other.name == stage; });
  if (place == stages.end())
    place = stages.insert(stages.end(), {stage, {}});
  return {*this, static_cast<size_t>(place - stages.begin())};
}

void StageTimes::print(llvm::raw_ostream &out, uint64_t instructions) const {
  auto milliseconds = [](std::chrono::steady_clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
  };
  std::chrono::steady_clock::duration sum{};
  for (const Stage &stage : stages) {
    sum += stage.time;
    out << llvm::format("%10.2f ms %10.1f MiB  %s\n", milliseconds(stage.time), stage.peak, stage.name.c_str());
  }
  double peak = peakMemory();
  out << llvm::format("%10.2f ms %10.1f MiB  in all", milliseconds(sum), peak);
  if (instructions != 0)
    out << llvm::format(": %llu instructions, %.2f million per second, %.0f bytes of peak memory each",
                        static_cast<unsigned long long>(instructions),
                        static_cast<double>(instructions) / milliseconds(sum) / 1000,
                        peak * 1024 * 1024 / static_cast<double>(instructions));
  out << '\n';
}
