// SPDX-License-Identifier: Apache-2.0
// The times that the rows are compared with: those of NCCL's own cost model, or of the programs in another file.
#pragma once

#include "CommandLine.h"
#include "Groups.h"
#include "Programs.h"
#include "gc3/Simulate/NcclModel.h"

namespace gc3::sim {

/// The time of the baseline for one call.
struct BaselineTime {
  double time = 0;  ///< microseconds
  std::string name; ///< "nccl ring ll", or the name of the program
};

class Baseline {
public:
  /// The arguments must outlive this object. The command line must name a baseline.
  Baseline(const CommandLine &line, const simulate::Fabric &fabric)
      : line(line), fabric(fabric), programs(line.baseline, line.baselineDefines) {}

  /// Reads the file, if the baseline is one. Returns false after an error, which is printed or in `error`.
  bool read(std::string &error);
  /// Returns why there is no baseline for the collective of `group`, of which `program` is a program, or an empty
  /// string.
  std::string check(const Group &group, const core::Program &program) const;
  /// Sets `result` to the time of a call that check() accepts, or to nothing if the file has no program for this size.
  /// Returns an error text, or an empty string.
  std::string time(const Group &group, const core::Program &program, uint64_t count, uint64_t bytes,
                   std::optional<BaselineTime> &result) const;

private:
  bool isNccl() const { return line.baseline == "nccl"; }

  const CommandLine &line;
  const simulate::Fabric &fabric;
  simulate::NcclSystem nccl;
  Programs programs;
  std::optional<Groups> groups;
};

} // namespace gc3::sim
