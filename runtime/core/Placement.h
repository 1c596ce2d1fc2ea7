// SPDX-License-Identifier: Apache-2.0
// Determines how the caller's buffers overlap and how a call scales elements. All backends do this before they copy or
// run anything.
#pragma once

#include "core/Layout.h"
#include "core/Selection.h"

namespace gc3::core {

/// The overlap of a rank's two buffers in a call.
enum class Placement : uint8_t {
  Apart,   ///< they do not overlap, or the rank has only one buffer
  Aliased, ///< they overlap as the program's input and output do
  InPlace  ///< they overlap as the collective defines for calls in place, but not as the program's buffers do
};
inline constexpr unsigned placementCount = 3;

/// The multiplication or division of elements before or after a reduction.
struct Scaling {
  bool scales = false;  ///< inputs are multiplied by factor()
  uint32_t divisor = 1; ///< divisor of integer outputs

  Scaling() = default;
  Scaling(const LoadedProgram &loaded, const Request &request);
  /// Returns the factor of the rank that makes `request`. Factors can differ between ranks, but this object's fields
  /// are identical on all ranks.
  Factor factor(const Request &request) const { return request.preMulSum ? request.preMulSum->factor : reciprocal; }

private:
  Factor reciprocal; ///< 1 / n, for an average of a floating-point type
};

class Placer {
public:
  /// Prepares for calls like `request`. Returns gc3InvalidArgument for an average if the program's outputs have
  /// different numbers of contributions, so that n is undefined. `loaded` and `layout` must outlive this object.
  Outcome plan(const LoadedProgram &loaded, const Layout &layout, const Request &request);

  /// Sets `placement` to how the rank's buffers overlap. Returns an error text if a buffer is null or the overlap is
  /// invalid, else null.
  const char *findPlacement(uint32_t rank, const Request &request, Placement &placement) const;
  /// Like findPlacement(), but returns the placement, or gc3InvalidArgument with the error text.
  Result<Placement> place(uint32_t rank, const Request &request) const;

private:
  const LoadedProgram *loaded = nullptr;
  const Layout *layout = nullptr;
};

} // namespace gc3::core
