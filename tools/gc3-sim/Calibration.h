// SPDX-License-Identifier: Apache-2.0
// gc3-sim --fit: fits the constants of a topology to measured times.
#pragma once

#include "CommandLine.h"
#include "FitPrograms.h"
#include "gc3/Simulate/Constants.h"
#include "gc3/Simulate/Fit.h"

#include <map>

namespace llvm {
class raw_ostream;
}

namespace gc3::sim {

class Calibration {
public:
  /// The arguments must outlive this object.
  Calibration(const CommandLine &line, const topology::Topology &topology)
      : line(line), base(topology), programs(line, topology) {}

  /// Reads the programs and the rows, and fits. Returns an error text, or an empty string. If `isPrinted` becomes true,
  /// the error is printed already.
  std::string run(bool &isPrinted);

  /// Prints the rows with their predictions, the constants, and the errors.
  void print(llvm::raw_ostream &out) const;
  /// Returns the topology with the fitted constants, whose sources name the results.
  topology::Topology fitted() const;

private:
  /// A measured call.
  struct Row {
    const core::Program *program;
    core::ElementType type;
    uint64_t bytes, count;
    double measured; ///< microseconds
  };
  std::string readRows();
  std::string addRow(const Measured &measured);
  std::string chooseConstants();
  std::string describe(const simulate::Indistinct &one) const;
  std::string keepDistinct();
  std::string predict(const std::vector<double> &values, std::vector<double> &times) const;
  topology::Topology withValues(const std::vector<double> &values) const;

  const CommandLine &line;
  const topology::Topology &base;
  FitPrograms programs;
  std::vector<Row> rows;
  size_t skipped = 0;                        ///< rows of other machines
  std::vector<simulate::Constant> constants; ///< those to fit
  std::vector<std::string> notFitted;        ///< descriptions of constants that the rows can't determine
  std::vector<double> values;                ///< by constant
  std::vector<double> before, after;         ///< predictions by row
};

} // namespace gc3::sim
