// SPDX-License-Identifier: Apache-2.0
// A plain model of a program's time, for bundles without predicted times. It only orders programs: it counts steps and
// bytes, and knows no machine.
#pragma once

#include "core/Program.h"

namespace gc3::core {

/// The most that one rank of a program does.
struct PlainCost {
  uint32_t steps = 0;    ///< of one thread block
  double bytesMoved = 0; ///< by all steps of a rank, divided by the call's size

  static PlainCost of(const Program &program);
  /// Returns the microseconds of a call of this size.
  double time(double bytes) const;
};

} // namespace gc3::core
