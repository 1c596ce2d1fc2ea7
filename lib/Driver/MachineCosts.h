// SPDX-License-Identifier: Apache-2.0
// Times of a program on a topology, without a simulation: --cost --topology.
#pragma once

#include "gc3/Emit/Cost.h"
#include "gc3/Simulate/Fabric.h"

namespace gc3::driver {

/// Returns the reason why the program cannot run on the topology, or an empty string.
std::string findMisfit(const ir::Program &program, const simulate::Fabric &fabric);

/// Returns why the runtime runs the program under Simple on the topology instead of under its own protocol, or an empty
/// string.
std::string whySimple(const ir::Program &program, const simulate::Fabric &fabric);

/// Returns the times of a program that fits the topology. A call takes at least `latency`, and at least `perMegabyte`
/// times its bytes. Linear in the program, the links and the ports.
emit::MachineCost machineCost(const ir::Program &program, const emit::Cost &cost, const simulate::Fabric &fabric);

} // namespace gc3::driver
