// SPDX-License-Identifier: Apache-2.0
// The figures of a topology that measurements can determine, by name.
#pragma once

#include "gc3/Topology/Topology.h"

#include <string>
#include <vector>

namespace gc3::simulate {

struct Constant {
  /// "launch", "step", "prepare", "wait", "memory"; "processors.cache" and "processors.miss"; "nvswitch.alpha" and
  /// "nvswitch.beta" by kind of link; "simple.copy", "simple.reduce", "ll.grain", "ll128.hop.network" by protocol and
  /// kind of link
  std::string name;
  double value; ///< as in the topology. If links of a kind differ, that of the first
  bool isRate;  ///< true: larger is faster, and Unlimited without a figure
};

/// Returns the constants, in a fixed order: those of calls and steps, of links, then of protocols. A kind of link has
/// constants only if the topology, or its network of several machines, has links of this kind.
std::vector<Constant> constantsOf(const topology::Topology &topology);

/// Sets the constant of this name, which must be in constantsOf(topology). If links of a kind differ, scales the
/// figures of all of them by one factor.
void setConstant(topology::Topology &topology, const std::string &name, double value);

} // namespace gc3::simulate
