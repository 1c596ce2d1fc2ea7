// SPDX-License-Identifier: Apache-2.0
#include "Timing.h"
#include "Version.h"
#include "core/Layout.h"
#include "gc3/Emit/Bundle.h"
#include "llvm/Support/ThreadPool.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace gc3::tune {

static constexpr double NoTime = std::numeric_limits<double>::infinity();

Timer::Timer(const CommandLine &line, Candidates &candidates, const topology::Topology *topology)
    : line(line), candidates(candidates) {
  calls.minBytes = line.minBytes, calls.maxBytes = line.maxBytes, calls.factor = line.factor, calls.type = line.type;
  if (!topology)
    return;
  fabric.emplace(*topology);
  nccl = simulate::findNcclSystem(*topology);
}

std::string Timer::open() {
  std::vector<emit::VerifiedProgram> all;
  for (const Candidate &each : candidates.all())
    all.push_back({&each.program, each.verdict.proven, each.verdict.minSlots, each.verdict.wholeSlots});
  bytes = emit::writeBundle(all, driver::version());
  if (auto status = bundle::BundleFile::openMemory(bytes.data(), bytes.size()).moveTo(file); !status.ok())
    return status.message;
  groups.emplace(*file);
  return groups->find("", "");
}

/// Returns the call of the largest size if -f passes this size by.
std::optional<sim::CallOptions> Timer::largestCall() const {
  uint64_t last = calls.minBytes;
  while (last < calls.maxBytes && std::max<uint64_t>(last, 1) <= calls.maxBytes / calls.factor)
    last = std::max<uint64_t>(last, 1) * calls.factor;
  if (last >= calls.maxBytes)
    return {};
  sim::CallOptions largest = calls;
  largest.minBytes = largest.maxBytes;
  return largest;
}

void Timer::add(const sim::Group &group, std::vector<Contest> &contests) const {
  Contest &contest = contests.emplace_back();
  contest.label = group.label, contest.root = group.root;
  contest.ranks = groups->program(group.programs[0]).ranks();
  contest.candidates = group.programs;
}

/// Sets the sizes of a contest, and makes room for the times.
std::string Timer::listSizes(Contest &contest) const {
  const core::Program &first = groups->program(contest.candidates[0]);
  contest.counts = countsOf(first, calls);
  if (const auto largest = largestCall(); largest && !contest.counts.empty())
    for (const uint64_t count : countsOf(first, *largest))
      if (contest.counts.back() < count)
        contest.counts.push_back(count);
  std::erase(contest.counts, 0); // such a call moves no data, so its time must not decide
  for (uint64_t count : contest.counts) {
    const std::optional<uint64_t> size = core::callBytes(first, count, core::elementSize(line.type));
    if (!size)
      return "a buffer of " + contest.label + " exceeds the address space";
    contest.sizes.push_back(*size);
  }
  if (contest.counts.empty())
    return "-b and -e leave no size for " + contest.label;
  contest.table.sizes = static_cast<uint32_t>(contest.counts.size());
  contest.table.candidates = static_cast<uint32_t>(contest.candidates.size());
  contest.table.times.assign(size_t(contest.table.sizes) * contest.table.candidates, NoTime);
  return {};
}

std::string Timer::simulate(uint32_t candidate, uint64_t count, double &time) const {
  simulate::Prediction prediction;
  std::string problem =
      simulate::simulate(callOf(groups->program(candidate), count, *fabric, calls), *fabric, {}, prediction);
  time = NoTime;
  if (problem.empty())
    time = prediction.time;
  return problem;
}

/// Simulates all calls of a contest, several candidates at a time.
void Timer::simulateAll(Contest &contest) {
  std::vector<std::string> problems(contest.candidates.size());
  {
    llvm::ThreadPool threads(llvm::hardware_concurrency(line.jobs));
    for (uint32_t i = 0; i < contest.candidates.size(); ++i)
      threads.async([this, &contest, &problems, i] {
        double *times = contest.table.times.data() + size_t(i) * contest.table.sizes;
        for (uint32_t size = 0; size < contest.table.sizes && problems[i].empty(); ++size)
          problems[i] = simulate(contest.candidates[i], contest.counts[size], times[size]);
        if (!problems[i].empty())
          std::fill(times, times + contest.table.sizes, NoTime);
      });
    threads.wait();
  }
  for (uint32_t i = 0; i < problems.size(); ++i)
    if (!problems[i].empty())
      candidates.drop(contest.candidates[i], problems[i]);
}

/// Returns an error text if the baseline runs on another number of ranks.
std::string Timer::checkRanks(const Contest &contest) const {
  if (!line.againstNccl || contest.ranks == nccl.ranks)
    return {};
  return contest.label + " has " + std::to_string(contest.ranks) + " ranks, but --baseline compares it with NCCL on " +
         std::to_string(nccl.ranks) + " ranks, those of --topology";
}

/// Leaves a contest without a baseline if NCCL's model has no time for its collective.
void Timer::timeBaseline(Contest &contest) const {
  for (uint64_t size : contest.sizes) {
    const auto choice = chooseNccl(nccl, file->program(contest.candidates[0]).collective()->string_view(), size);
    if (!choice) // as at all other sizes
      return;
    contest.table.baseline.push_back(choice->time);
    contest.baselineNames.push_back(std::string(name(choice->algorithm)) + " " +
                                    std::string(topology::ProtocolNames[choice->protocol]));
  }
}

/// Returns why the first of the contest's candidates was dropped, for a message. Returns an empty string if none was.
std::string Timer::firstReason(const Contest &contest) const {
  const std::string &name = candidates.all()[contest.candidates[0]].name;
  for (const Dropped &each : candidates.dropped())
    if (each.name == name)
      return "; the first reason: " + each.reason;
  return {};
}

/// Removes the contests without any time, such as those for another number of ranks than the topology's. Their
/// candidates have been dropped. Returns an error text if no contest is left.
std::string Timer::removeUntimed(std::vector<Contest> &contests) const {
  const auto isUntimed = [](const Contest &contest) {
    return std::none_of(contest.table.times.begin(), contest.table.times.end(), [](double t) { return t < NoTime; });
  };
  if (std::all_of(contests.begin(), contests.end(), isUntimed))
    return "no candidate has a time" + firstReason(contests.front());
  contests.erase(std::remove_if(contests.begin(), contests.end(), isUntimed), contests.end());
  return {};
}

/// Returns an error text if nothing can run some size.
std::string Timer::checkTimes(const Contest &contest) const {
  for (uint32_t size = 0; size < contest.table.sizes; ++size)
    if (!std::isfinite(contest.table.best(size)))
      return "no candidate for " + contest.label + " has a time at " + std::to_string(contest.sizes[size]) + " bytes" +
             firstReason(contest);
  return {};
}

std::string Timer::run(std::vector<Contest> &contests) {
  if (std::string problem = open(); !problem.empty())
    return problem;
  for (const sim::Group &group : groups->all())
    add(group, contests);
  if (line.timing == Timing::Learned)
    return {};
  for (Contest &contest : contests)
    if (std::string problem = listSizes(contest); !problem.empty())
      return problem;
  if (line.timing == Timing::Simulator)
    for (Contest &contest : contests)
      simulateAll(contest);
  else if (std::string problem = measureAll(contests); !problem.empty())
    return problem;
  if (std::string problem = removeUntimed(contests); !problem.empty())
    return problem;
  for (Contest &contest : contests) {
    if (std::string problem = checkRanks(contest); !problem.empty())
      return problem;
    if (line.againstNccl)
      timeBaseline(contest);
    if (std::string problem = checkTimes(contest); !problem.empty())
      return problem;
  }
  return {};
}

uint64_t Timer::bytesOf(const Contest &contest, uint64_t count) const {
  return *core::callBytes(groups->program(contest.candidates[0]), count, core::elementSize(line.type));
}

/// Returns the value at `count` between two measured points, on a line in a plot with logarithmic axes.
static double interpolate(const Contest &contest, uint32_t candidate, uint64_t count) {
  const auto next = std::lower_bound(contest.counts.begin(), contest.counts.end(), count);
  const auto i = static_cast<uint32_t>(next - contest.counts.begin());
  if (*next == count || i == 0)
    return contest.table.at(candidate, i);
  const double begin = std::log(std::max<double>(static_cast<double>(contest.counts[i - 1]), 1));
  const double end = std::log(static_cast<double>(contest.counts[i]));
  const double part = (std::log(static_cast<double>(count)) - begin) / (end - begin);
  return std::exp((1 - part) * std::log(contest.table.at(candidate, i - 1)) +
                  part * std::log(contest.table.at(candidate, i)));
}

double Timer::at(const Contest &contest, uint32_t candidate, uint64_t count) const {
  if (candidate == TimeTable::Baseline) {
    const auto choice =
        chooseNccl(nccl, file->program(contest.candidates[0]).collective()->string_view(), bytesOf(contest, count));
    if (!choice)
      return NoTime;
    return choice->time;
  }
  if (line.timing != Timing::Simulator)
    return interpolate(contest, candidate, count);
  double time = NoTime;
  simulate(contest.candidates[candidate], count, time);
  return time;
}

} // namespace gc3::tune
