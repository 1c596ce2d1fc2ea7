// SPDX-License-Identifier: Apache-2.0
#include "Calibration.h"
#include "Input.h"
#include "OptionText.h"
#include "core/Layout.h"
#include "gc3/Topology/Families.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ThreadPool.h"
#include <algorithm>
#include <cmath>

namespace gc3::sim {

/// Where a constant without a figure begins.
constexpr double StartOfTime = 0.1, StartOfGrain = 4096, StartOfRate = 30, StartOfMemory = 1000, StartOfCache = 1e6;

static double startOf(const simulate::Constant &constant) {
  if (constant.isRate && std::isfinite(constant.value))
    return constant.value;
  if (constant.isRate)
    return constant.name == "memory" ? StartOfMemory : constant.name == "processors.cache" ? StartOfCache : StartOfRate;
  if (constant.value > 0)
    return constant.value;
  return llvm::StringRef(constant.name).endswith(".grain") ? StartOfGrain : StartOfTime;
}

/// Returns the topology for this number of ranks: several of its machines, or the first ranks of its switches. Returns
/// nothing if it cannot have so many.
static std::optional<topology::Topology> withRanks(const topology::Topology &base, uint32_t ranks) {
  if (ranks == base.ranks)
    return base;
  if (ranks < base.ranks)
    return firstRanks(base, ranks);
  if (base.network && ranks % base.ranks == 0 && !std::isfinite(base.costs.processors.count))
    return joinByNetwork(base, ranks / base.ranks);
  return {};
}

std::string Calibration::addRow(const Measured &measured) {
  std::string error;
  const core::Program *program = programs.find(measured, error);
  if (!program)
    return error;
  const std::string place = placeOf(measured);
  const std::optional<core::ElementType> type = typeNamed(measured.type);
  if (!type)
    return "the row of " + place + " has the unknown data type '" + measured.type + "'";
  const uint32_t ranks = program->ranks();
  if (!withRanks(base, ranks))
    return "the row of " + place + " has " + std::to_string(ranks) + " ranks, but topology '" + base.name + "' has " +
           std::to_string(base.ranks);
  CallOptions options;
  options.minBytes = options.maxBytes = measured.bytes, options.type = *type;
  const std::vector<uint64_t> counts = countsOf(*program, options);
  if (counts.empty())
    return "the row of " + place + " has no elements";
  const double own = program->info().in_place() ? measured.inPlace : measured.outOfPlace;
  const double time = own > 0 ? own : std::max(measured.inPlace, measured.outOfPlace);
  rows.push_back({program, *type, measured.bytes, counts[0], time});
  return {};
}

std::string Calibration::readRows() {
  std::string problem;
  const auto text = driver::readInput(line.fit, driver::mostStreamedText, problem);
  if (!text)
    return "cannot read '" + line.fit + "': " + problem;
  std::vector<Measured> measured;
  if (problem = readResults(text->getBuffer(), measured); !problem.empty())
    return line.fit + ": " + problem;
  bool isForCollective = false; // a row is
  for (const Measured &each : measured) {
    if (!line.collective.empty() && !each.collective.empty() && each.collective != line.collective)
      continue;
    isForCollective = true;
    if (!each.machine.empty() && each.machine != base.name) {
      ++skipped;
      continue;
    }
    if (problem = addRow(each); !problem.empty())
      return line.fit + ": " + problem;
  }
  if (!rows.empty())
    return {};
  return line.fit + ": no row is for " +
         (line.collective.empty() || isForCollective ? "topology '" + base.name : "collective '" + line.collective) +
         "'";
}

topology::Topology Calibration::withValues(const std::vector<double> &chosen) const {
  topology::Topology topology = base;
  for (size_t i = 0; i < constants.size(); ++i)
    simulate::setConstant(topology, constants[i].name, chosen[i]);
  return topology;
}

/// Predicts all rows, several at a time.
std::string Calibration::predict(const std::vector<double> &chosen, std::vector<double> &times) const {
  const topology::Topology single = withValues(chosen);
  std::map<uint32_t, topology::Topology> topologies; // by number of ranks
  for (const Row &row : rows)
    if (const uint32_t ranks = row.program->ranks(); topologies.count(ranks) == 0)
      topologies.emplace(ranks, *withRanks(single, ranks));
  std::map<uint32_t, simulate::Fabric> fabrics;
  for (const auto &[ranks, topology] : topologies)
    fabrics.try_emplace(ranks, topology);
  times.assign(rows.size(), 0);
  std::vector<std::string> problems(rows.size());
  llvm::ThreadPool threads;
  const size_t stride = threads.getThreadCount();
  for (size_t first = 0; first < stride; ++first)
    threads.async([&, first] {
      for (size_t i = first; i < rows.size(); i += stride) {
        const Row &row = rows[i];
        const simulate::Fabric &fabric = fabrics.at(row.program->ranks());
        CallOptions options = line;
        options.type = row.type;
        simulate::Prediction prediction;
        problems[i] = simulate::simulate(callOf(*row.program, row.count, fabric, options), fabric, {}, prediction);
        times[i] = prediction.time;
      }
    });
  threads.wait();
  for (const std::string &problem : problems)
    if (!problem.empty())
      return problem;
  return {};
}

/// Takes the constants that the command line names, or all.
std::string Calibration::chooseConstants() {
  const std::vector<simulate::Constant> all = simulate::constantsOf(base);
  if (line.fitConstants.empty()) {
    constants = all;
    return {};
  }
  for (const std::string &name : line.fitConstants) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto &each) { return each.name == name; });
    if (found == all.end()) {
      std::string names;
      for (const simulate::Constant &each : all)
        names += (names.empty() ? "" : ", ") + each.name;
      return "topology '" + base.name + "' has no constant '" + name + "'; the constants are " + names;
    }
    if (std::any_of(constants.begin(), constants.end(), [&](const auto &each) { return each.name == name; }))
      return "--fit-constants names '" + name + "' twice";
    constants.push_back(*found);
  }
  return {};
}

std::string Calibration::describe(const simulate::Indistinct &one) const {
  const std::string &name = constants[one.constant].name;
  if (one.from.empty())
    return "no time depends on " + name;
  std::vector<std::string> names;
  for (uint32_t i : one.from)
    names.push_back(constants[i].name);
  return "the rows can't distinguish " + name + " from " + llvm::join(names, ", ");
}

/// Finds the constants that the rows can't determine. It is an error if the command line names one of them; otherwise
/// they keep their values.
std::string Calibration::keepDistinct() {
  std::vector<simulate::Indistinct> found;
  for (const simulate::Constant &each : constants)
    values.push_back(startOf(each));
  std::string problem = findIndistinct([this](const auto &v, auto &times) { return predict(v, times); }, values, found);
  if (!problem.empty())
    return problem;
  for (const simulate::Indistinct &one : found)
    notFitted.push_back(describe(one));
  if (!line.fitConstants.empty())
    return notFitted.empty() ? "" : notFitted.front() + "; fit fewer constants, or more rows";
  for (auto one = found.rbegin(); one != found.rend(); ++one) {
    constants.erase(constants.begin() + one->constant);
    values.erase(values.begin() + one->constant);
  }
  return constants.empty() ? "the rows determine no constant" : "";
}

std::string Calibration::run(bool &isPrinted) {
  std::string problem = programs.read(isPrinted);
  if (problem.empty())
    problem = readRows();
  if (problem.empty())
    problem = predict({}, before);
  if (problem.empty() && line.output.empty()) {
    after = before;
    return {};
  }
  if (problem.empty())
    problem = chooseConstants();
  if (problem.empty())
    problem = keepDistinct();
  if (!problem.empty())
    return problem;
  std::vector<double> measured;
  for (const Row &row : rows)
    measured.push_back(row.measured);
  return simulate::fit([this](const auto &v, auto &times) { return predict(v, times); }, measured, values, after);
}

} // namespace gc3::sim
