// SPDX-License-Identifier: Apache-2.0
// The results of a fit: the table of rows, the constants, and the topology.
#include "Calibration.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

namespace gc3::sim {

/// The error of a prediction is the larger of the two ratios, minus 1. Returns the geometric mean and the largest.
static std::pair<double, double> errorsOf(const std::vector<double> &logarithms) {
  double sum = 0, largest = 0;
  for (double each : logarithms)
    sum += std::abs(each), largest = std::max(largest, std::abs(each));
  return {std::expm1(sum / static_cast<double>(logarithms.size())), std::expm1(largest)};
}

void Calibration::print(llvm::raw_ostream &out) const {
  out << "#       size  ranks    measured      before       after   ratio  program\n"
      << "#        (B)               (us)        (us)        (us)\n";
  std::vector<double> old, own;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row &row = rows[i];
    old.push_back(std::log(before[i] / row.measured)), own.push_back(std::log(after[i] / row.measured));
    out << llvm::format("%12llu %6u %11.2f %11.2f %11.2f %7.3f  ", static_cast<unsigned long long>(row.bytes),
                        row.program->ranks(), row.measured, before[i], after[i], after[i] / row.measured)
        << row.program->info().name()->string_view() << '\n';
  }
  const auto [meanBefore, mostBefore] = errorsOf(old);
  const auto [meanAfter, mostAfter] = errorsOf(own);
  out << llvm::format("# geometric mean error: %.1f %% before, %.1f %% after; largest: %.1f %% before, %.1f %% after\n",
                      100 * meanBefore, 100 * meanAfter, 100 * mostBefore, 100 * mostAfter);
  if (skipped > 0)
    out << "# rows of other machines: " << skipped << '\n';
  for (size_t i = 0; i < constants.size(); ++i) {
    out << llvm::format("# %-24s %12.6g  before ", constants[i].name.c_str(), values[i]);
    if (std::isfinite(constants[i].value))
      out << llvm::format("%.6g\n", constants[i].value);
    else
      out << "unlimited\n";
  }
  for (const std::string &each : notFitted)
    out << "# not fitted: " << each << '\n';
}

topology::Topology Calibration::fitted() const {
  topology::Topology topology = withValues(values);
  std::vector<std::string> names;
  for (const simulate::Constant &each : constants)
    names.push_back(each.name);
  topology.sources.push_back({llvm::join(names, ", "), "fitted by gc3-sim to " + std::to_string(rows.size()) +
                                                           " measured times in " + line.fit});
  return topology;
}

} // namespace gc3::sim
