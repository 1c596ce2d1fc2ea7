// SPDX-License-Identifier: Apache-2.0
// Times the calls of one placement of one row. With a baseline, the program and NCCL run in turns, so that changes of
// the machine's speed affect both. The time of a turn is that of the slowest rank, and the result the median of the
// turns.
#include "Runner.h"

#include <algorithm>
#include <chrono>

namespace gc3::run {

namespace {

constexpr int defaultIterations = 20;
constexpr double defaultSeconds = 0.5;
constexpr int turnsWithBaseline = 5; // odd, so that the median is one of them

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

} // namespace

Share Runner::timeCalls(const Contender &contender, int calls) {
  Share share;
  const double begin = seconds();
  for (int i = 0; i < calls && share.problem.empty(); ++i)
    share.problem = contender.call();
  if (share.problem.empty())
    share.problem = finish();
  share.seconds = seconds() - begin;
  return share;
}

std::string Runner::chooseIterations(const std::vector<Contender> &contenders, int &iterations) {
  iterations = options.iterations;
  Share trial;
  for (size_t i = 0; i < contenders.size() && options.iterations < 0 && trial.problem.empty(); ++i) {
    const Share one = timeCalls(contenders[i], 1);
    trial.problem = one.problem;
    trial.seconds = std::max(trial.seconds, one.seconds);
  }
  const Share slowest = job.meet(trial);
  if (slowest.problem.empty() && options.iterations < 0) {
    const double fitting = std::min<double>(defaultIterations, defaultSeconds / std::max(slowest.seconds, 1e-9));
    iterations = std::max(1, static_cast<int>(fitting));
  }
  return slowest.problem;
}

/// Processes leave a meeting at different times. The untimed calls at the beginning of a turn make up for that.
std::string Runner::takeTurns(std::vector<Contender> &contenders, int iterations) {
  const int turns = contenders.size() == 1 ? 1 : turnsWithBaseline;
  for (int turn = 0; turn < turns; ++turn)
    for (Contender &contender : contenders) {
      Share share = timeCalls(contender, options.warmup >= 0 ? options.warmup : iterations / 4);
      if (share.problem.empty())
        share = timeCalls(contender, iterations);
      const Share slowest = job.meet(share);
      if (!slowest.problem.empty())
        return slowest.problem;
      contender.seconds.push_back(slowest.seconds);
    }
  return {};
}

std::string Runner::time(std::optional<ncclapi::Collective> ofNccl, Placement placement, Row &row, gc3DataType_t type,
                         Reduction op, const Shape &shape) {
  std::vector<Contender> contenders = {{[&] { return call(placement, row, type, op, shape); }, {}}};
  if (ofNccl)
    contenders.push_back({[&] { return callNccl(*ofNccl, placement, row, type, op, shape); }, {}});
  int iterations = 0;
  if (std::string problem = chooseIterations(contenders, iterations); !problem.empty())
    return problem;
  if (std::string problem = takeTurns(contenders, iterations); !problem.empty())
    return problem;
  const auto microseconds = [&](const Contender &contender) { return median(contender.seconds) * 1e6 / iterations; };
  Measurement &measurement = row.placement[static_cast<int>(placement)];
  measurement.microseconds = microseconds(contenders[0]);
  measurement.algbw = static_cast<double>(row.bytes) / (measurement.microseconds * 1e3);
  measurement.busbw = measurement.algbw * busFactor(row.collective, row.ranks);
  if (ofNccl)
    measurement.ncclMicroseconds = microseconds(contenders[1]);
  return {};
}

} // namespace gc3::run
