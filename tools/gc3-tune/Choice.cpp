// SPDX-License-Identifier: Apache-2.0
// Dynamic programming over the sizes. A state is the number of ranges of candidates so far, and the server of the last
// size. Two passes: the first finds the smallest possible loss, the second minimises the sum of losses within it.
#include "Choice.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace gc3::tune {

namespace {

constexpr double Impossible = std::numeric_limits<double>::infinity();
/// Losses that differ by rounding errors count as equal.
constexpr double Tolerance = 1e-9;

class Search {
public:
  Search(const TimeTable &times, uint32_t programs) : table(times), most(programs), servers(times.candidates + 1) {
    for (uint32_t size = 0; size < table.sizes; ++size)
      best.push_back(table.best(size));
  }

  /// Combines the costs of sizes: the largest one, or their sum. Costs above `bound` are impossible.
  enum class Goal : uint8_t { Largest, Sum };
  void run(Goal goal, double bound);
  /// Returns the smallest cost with exactly `ranges` ranges of candidates.
  double cost(uint32_t ranges) const;
  /// Returns the smallest cost with any permitted number of ranges.
  double smallestCost() const;
  /// Returns the ranges of that cost. Fewer ranges must cost more: then no range ends where its server continues.
  std::vector<Range> trace(uint32_t ranges) const;

private:
  /// A server is a candidate, or the last one: the baseline.
  bool isBaseline(uint32_t server) const { return server == table.candidates; }
  double lossOf(uint32_t server, uint32_t size) const;
  size_t cell(uint32_t size, uint32_t ranges, uint32_t server) const {
    return (size_t(size) * (most + 1) + ranges) * servers + server;
  }
  void relax(uint32_t size, Goal goal, double bound);

  const TimeTable &table;
  const uint32_t most, servers;
  std::vector<double> best;     ///< by size
  std::vector<double> costs;    ///< by cell
  std::vector<uint32_t> before; ///< by cell: the server of the size before
};

double Search::lossOf(uint32_t server, uint32_t size) const {
  if (isBaseline(server) && table.baseline.empty())
    return Impossible;
  const double time = table.at(isBaseline(server) ? TimeTable::Baseline : server, size);
  if (std::isinf(time))
    return Impossible;
  return best[size] > 0 ? time / best[size] - 1 : time > 0 ? Impossible : 0;
}

void Search::run(Goal goal, double bound) {
  costs.assign(size_t(table.sizes) * (most + 1) * servers, Impossible);
  before.assign(costs.size(), 0);
  for (uint32_t size = 0; size < table.sizes; ++size)
    relax(size, goal, bound);
}

void Search::relax(uint32_t size, Goal goal, double bound) {
  std::vector<uint32_t> cheapest(most + 1, 0); // the best server of the size before, by ranges
  if (size > 0)
    for (uint32_t ranges = 0; ranges <= most; ++ranges)
      for (uint32_t server = 1; server < servers; ++server)
        if (costs[cell(size - 1, ranges, server)] < costs[cell(size - 1, ranges, cheapest[ranges])])
          cheapest[ranges] = server;
  for (uint32_t server = 0; server < servers; ++server) {
    const double loss = lossOf(server, size);
    if (loss > bound)
      continue;
    const double own = goal == Goal::Sum ? std::log1p(loss) : loss;
    const uint32_t added = isBaseline(server) ? 0 : 1;
    for (uint32_t ranges = added; ranges <= most; ++ranges) {
      double &target = costs[cell(size, ranges, server)];
      if (size == 0) {
        if (ranges == added)
          target = own;
        continue;
      }
      const uint32_t other = cheapest[ranges - added];
      const double same = costs[cell(size - 1, ranges, server)], change = costs[cell(size - 1, ranges - added, other)];
      const double earlier = std::min(same, change);
      target = goal == Goal::Sum ? earlier + own : std::max(earlier, own);
      before[cell(size, ranges, server)] = same <= change ? server : other;
    }
  }
}

double Search::cost(uint32_t ranges) const {
  const auto begin = costs.begin() + static_cast<std::ptrdiff_t>(cell(table.sizes - 1, ranges, 0));
  return *std::min_element(begin, begin + servers);
}

double Search::smallestCost() const {
  double smallest = Impossible;
  for (uint32_t ranges = 0; ranges <= most; ++ranges)
    smallest = std::min(smallest, cost(ranges));
  return smallest;
}

std::vector<Range> Search::trace(uint32_t ranges) const {
  const auto begin = costs.begin() + static_cast<std::ptrdiff_t>(cell(table.sizes - 1, ranges, 0));
  auto server = static_cast<uint32_t>(std::min_element(begin, begin + servers) - begin);
  std::vector<Range> found;
  for (uint32_t size = table.sizes; size-- > 0;) {
    const uint32_t candidate = isBaseline(server) ? TimeTable::Baseline : server;
    if (found.empty() || found.back().candidate != candidate)
      found.push_back({candidate, size, size + 1});
    found.back().begin = size;
    const uint32_t earlier = before[cell(size, ranges, server)];
    if (earlier != server && !isBaseline(server))
      --ranges;
    server = earlier;
  }
  std::reverse(found.begin(), found.end());
  return found;
}

} // namespace

double TimeTable::best(uint32_t size) const {
  double shortest = baseline.empty() ? Impossible : baseline[size];
  for (uint32_t candidate = 0; candidate < candidates; ++candidate)
    shortest = std::min(shortest, at(candidate, size));
  return shortest;
}

Choice choose(const TimeTable &table, uint32_t programs, double within) {
  Search search(table, programs);
  search.run(Search::Goal::Largest, Impossible);
  const double bound = search.smallestCost();
  if (bound == Impossible)
    return {{}, Impossible};
  const bool reachesWithin = bound <= within + Tolerance;
  search.run(Search::Goal::Sum, std::max(bound, within) + Tolerance);
  const double mostCost = reachesWithin ? std::numeric_limits<double>::max() : search.smallestCost() + Tolerance;
  uint32_t ranges = 0;
  while (search.cost(ranges) > mostCost)
    ++ranges;
  Choice choice{search.trace(ranges), 0};
  for (const Range &range : choice.ranges)
    for (uint32_t size = range.begin; size < range.end; ++size)
      choice.loss = std::max(choice.loss, table.at(range.candidate, size) / table.best(size) - 1);
  return choice;
}

} // namespace gc3::tune
