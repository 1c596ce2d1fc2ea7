// SPDX-License-Identifier: Apache-2.0
// What the test of data movement runs, with the templates on the host and as PTX: one run of a step, with a reduction
// that is not commutative.
#pragma once

#include "kernel/LL128.h"
#include "kernel/LowLatency.h"
#include "kernel/Simple.h"

#include <type_traits>

namespace gc3::test {

/// Subtracts bytes, whatever the element size.
template <uint32_t ElementBytes>
struct BytesArithmetic {
  static constexpr uint32_t elementBytes = ElementBytes;
  static GC3_DEVICE kernel::Word combine(kernel::Operation, kernel::Word a, kernel::Word b) {
    kernel::Word result = 0;
    GC3_ROLLED
    for (uint32_t shift = 0; shift < 64; shift += 8)
      result |= (((a >> shift) - (b >> shift)) & 0xff) << shift;
    return result;
  }
};

/// The arguments of a call.
struct MotionCall {
  kernel::Motion motion;
  kernel::TileRun run;
  uint32_t *stopped; ///< number of threads that stop
};

/// Moves the data of a run. Returns false after a stop.
template <kernel::Protocol P, uint32_t ElementBytes, typename Machine>
GC3_DEVICE bool moveRun(Machine &machine, const kernel::Motion &motion, const kernel::TileRun &run) {
  using Arithmetic = BytesArithmetic<ElementBytes>;
  if constexpr (P == kernel::Protocol::Simple) {
    using Moves = kernel::Simple<Machine, Arithmetic>;
    Moves::move(machine, motion, Moves::sidesOf(machine, motion, run));
    return true;
  } else {
    using Moves = std::conditional_t<P == kernel::Protocol::LL, kernel::LowLatency<Machine, Arithmetic>,
                                     kernel::LL128<Machine, Arithmetic>>;
    return Moves::move(machine, motion, run);
  }
}

} // namespace gc3::test
