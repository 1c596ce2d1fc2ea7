// SPDX-License-Identifier: Apache-2.0
// The programs that online selection chooses among (core/OnlineSelection.h). A Selection has the programs of a bundle;
// comm::ProgramTable has those of all bundles, and NCCL.
#pragma once

#include "core/Request.h"

#include <optional>
#include <vector>

namespace gc3::core {

/// The programs that can serve a call of a collective, whatever sizes they are for.
struct CallArms {
  std::vector<uint32_t> programs; ///< numbers, in the order of the bundles
  /// Index in `programs` of the one that runs the call without online selection. No value: the call is an error.
  std::optional<uint32_t> fixed;
  uint64_t bytes = 0; ///< size of the call
};

class ArmSource {
public:
  virtual ~ArmSource() = default;
  /// Returns the programs for a valid request, or an error of the request. If the caller has chosen the program, by its
  /// name or with a tuner, there are none.
  virtual Result<CallArms> arms(const Request &request) = 0;
  /// Returns a program of arms(); null: NCCL.
  virtual const Program *programOf(uint32_t number) = 0;
};

} // namespace gc3::core
