// SPDX-License-Identifier: Apache-2.0
#include "CheckTable.h"
#include "tuner/Choices.h"
#include <algorithm>
#include <vector>

namespace gc3::test {

namespace {

using namespace tuner;

/// Chooses for the row's collective and size, where NCCL has only rings and trees.
std::string checkChoice(const Choices &choices, const Row &row) {
  const std::span<const Arm> arms = choices.arms(static_cast<int>(row.collective), 1ULL << row.bucket);
  if (arms.empty())
    return "a row has no arm";
  if (!std::is_sorted(arms.begin(), arms.end(), [](const Arm &a, const Arm &b) { return a.time < b.time; }))
    return "arms are not ordered by time";
  float costs[7][3] = {{9, 8, 7}, {6, 5, 4}, {-1, -1, -1}, {-1, -1, -1}, {-1, -1, -1}, {-1, -1, -1}, {-1, -1, -1}};
  const Arm *arm = prefer(arms, {&costs[0][0], 7, 3});
  const float best = arm ? costs[static_cast<int>(arm->algorithm)][static_cast<int>(arm->protocol)] : costs[1][2];
  if (best != 4)
    return "the lowest cost changes";
  uint32_t count = 0;
  for (const float cost : std::span(&costs[0][0], 21))
    count += cost >= 0 && cost <= best;
  if (count != 1)
    return "two entries have the lowest cost";
  const bool isUsable = std::any_of(arms.begin(), arms.end(), [](const Arm &each) {
    return each.algorithm == Algorithm::Ring || each.algorithm == Algorithm::Tree;
  });
  return (arm != nullptr) == isUsable ? "" : "an arm is chosen that NCCL can't use, or none";
}

} // namespace

std::string checkTable(const std::string &text, uint32_t &accepted) {
  std::vector<Row> rows, again;
  if (!parseTable(text, rows).empty())
    return {};
  ++accepted;
  const std::string printed = printTable(rows);
  if (const std::string error = parseTable(printed, again); !error.empty())
    return "the printed form is refused: " + error;
  if (printTable(again) != printed)
    return "the printed form changes when it is read";
  if (rows.empty())
    return {};
  const Choices choices(rows, rows.front().ranks, rows.front().nodes);
  for (const Row &row : rows)
    if (row.ranks == rows.front().ranks && row.nodes == rows.front().nodes)
      if (std::string problem = checkChoice(choices, row); !problem.empty())
        return problem;
  return {};
}

} // namespace gc3::test
