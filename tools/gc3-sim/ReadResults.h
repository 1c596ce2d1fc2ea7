// SPDX-License-Identifier: Apache-2.0
// Reads measured times: JSON of gc3-run and gc3-sim, points as bench/measured/points.json has them, and the tables that
// gc3-run and nccl-tests print. C++17, like all files that include llvm/Support/JSON.h.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace gc3::sim {

/// The measured time of a call.
struct Measured {
  std::string machine;        ///< name of a topology; empty: not given
  std::string collective;     ///< empty: not given
  std::string program;        ///< empty: not given
  uint32_t ranks = 0;         ///< 0: not given
  int32_t root = -1;          ///< -1: not given
  uint64_t bytes = 0;         ///< the larger of one rank's input and output
  std::string type = "float"; ///< name of a data type
  double outOfPlace = 0;      ///< microseconds; 0: not measured
  double inPlace = 0;         ///< microseconds; 0: not measured. Results without a placement have equal times
};

/// Appends the rows of `text`, which has one of the formats. Rows without a time or without bytes are skipped. Returns
/// an error text, or an empty string.
std::string readResults(llvm::StringRef text, std::vector<Measured> &rows);

} // namespace gc3::sim
