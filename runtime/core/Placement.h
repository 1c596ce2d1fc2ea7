// SPDX-License-Identifier: Apache-2.0
// How the buffers that callers bring lie in each other, and what calls do to elements beyond a reduction of two: what
// all backends decide alike before they copy or run anything.
#pragma once

#include "core/Layout.h"
#include "core/Selection.h"

namespace gc3::core {

/// How the two buffers of a rank lie in a call.
enum class Placement : uint8_t {
  Apart,   ///< they do not overlap, or there is only one
  Aliased, ///< as the program's alias says
  InPlace  ///< as the collective says for calls in place, which is not how the program has it
};
inline constexpr unsigned placementCount = 3;

/// How a call reduces, beyond the operation between two elements.
struct Scaling {
  bool scales = false;  ///< inputs are multiplied by factor()
  uint32_t divisor = 1; ///< integer outputs are divided by this

  Scaling() = default;
  Scaling(const LoadedProgram &loaded, const Request &request);
  /// That of one rank's request; all are alike but in this.
  Factor factor(const Request &request) const { return request.preMulSum ? request.preMulSum->factor : reciprocal; }

private:
  Factor reciprocal; ///< of an average
};

class Placer {
public:
  /// For calls like `request`; gc3InvalidArgument where the program has no average. All but the request have to stay.
  Outcome plan(const LoadedProgram &loaded, const Layout &layout, const Request &request);

  /// How a rank's buffers lie; what is wrong with them where they are null or overlap wrongly, else null.
  const char *findPlacement(uint32_t rank, const Request &request, Placement &placement) const;
  /// Returns the placement that findPlacement finds, or gc3InvalidArgument with the problem.
  Result<Placement> place(uint32_t rank, const Request &request) const;

private:
  const LoadedProgram *loaded = nullptr;
  const Layout *layout = nullptr;
};

} // namespace gc3::core
