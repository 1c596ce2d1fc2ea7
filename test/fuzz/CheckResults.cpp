// SPDX-License-Identifier: Apache-2.0
#include "CheckResults.h"
#include "ReadResults.h"
#include <cmath>
#include <tuple>

namespace gc3::test {

static auto membersOf(const sim::Measured &row) {
  return std::tie(row.machine, row.collective, row.program, row.ranks, row.bytes, row.type, row.outOfPlace,
                  row.inPlace);
}

static bool isTime(double time) {
  return std::isfinite(time) && time >= 0;
}

std::string checkResults(const std::string &text, uint32_t &accepted) {
  std::vector<sim::Measured> rows;
  if (!sim::readResults(text, rows).empty())
    return {};
  ++accepted;
  const size_t count = rows.size();
  if (count == 0)
    return "an accepted text has no rows";
  for (const sim::Measured &row : rows)
    if (!isTime(row.outOfPlace) || !isTime(row.inPlace) || row.outOfPlace + row.inPlace <= 0 || row.type.empty())
      return "a row has no time or no type";
  if (!sim::readResults(text, rows).empty() || rows.size() != 2 * count)
    return "the text reads differently after other rows";
  for (size_t i = 0; i < count; ++i)
    if (membersOf(rows[i]) != membersOf(rows[count + i]))
      return "a row differs when it is read again";
  return {};
}

} // namespace gc3::test
