// SPDX-License-Identifier: Apache-2.0
// The times of NCCL's own cost model, as a table that NCCL's tuner plugin reads (tuner/Table.h).
#pragma once

#include "CommandLine.h"
#include "gc3/Topology/Topology.h"

#include <string>

namespace gc3::sim {

/// Returns a table for the powers of 2 from -b to -e. A row of a bucket has the time of the bucket's smallest size.
/// Sets `error` if NCCL's model has no time for the topology, or there is no power of 2.
std::string ncclTableOf(const topology::Topology &topology, const CommandLine &line, std::string &error);

} // namespace gc3::sim
